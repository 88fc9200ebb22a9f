package dev.zmtp.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.zmtp.shm.SharedMemoryAddress;
import dev.zmtp.testing.TestTransport;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.uring.IoUringIoHandler;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import net.openhft.affinity.Affinity;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("netty-4.2-only")
class BusyLoopsTest {

    private static final int CORE = 0;

    /** A loop that sleeps would look once and then wait for something to do. */
    @ParameterizedTest
    @EnumSource(names = {"NIO", "EPOLL", "IO_URING"})
    void aLoopWithNothingToDoLooksAgainAndAgain(TestTransport transport) throws Exception {
        assumeTrue(transport.isRequired() || transport.refusal() == null);
        CountDownLatch looks = new CountDownLatch(10_000);
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, BusyLoops.busy(Counting.factory(transport, looks)));
        try {
            group.submit(() -> {}).sync(); // starts the thread
            assertThat(looks.await(10, TimeUnit.SECONDS)).isTrue();
        } finally {
            group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        }
    }

    /** What names types of Netty 4.2 stands apart from the tests, which JUnit looks at with Netty 4.1, too. */
    private record Counting(IoHandler transport, CountDownLatch looks) implements IoHandler {

        static IoHandlerFactory factory(TestTransport transport, CountDownLatch looks) {
            IoHandlerFactory factory = switch (transport) {
                case NIO -> NioIoHandler.newFactory();
                case EPOLL -> EpollIoHandler.newFactory();
                case IO_URING -> IoUringIoHandler.newFactory();
                default -> throw new IllegalArgumentException(transport.toString());
            };
            return executor -> new Counting(factory.newHandler(executor), looks);
        }

        @Override
        public int run(IoHandlerContext context) {
            looks.countDown();
            return transport.run(context);
        }

        @Override
        public void initialize() {
            transport.initialize();
        }

        @Override
        public void prepareToDestroy() {
            transport.prepareToDestroy();
        }

        @Override
        public void destroy() {
            transport.destroy();
        }

        @Override
        public IoRegistration register(IoHandle handle) throws Exception {
            return transport.register(handle);
        }

        @Override
        public void wakeup() {
            transport.wakeup();
        }

        @Override
        public boolean isCompatible(Class<? extends IoHandle> type) {
            return transport.isCompatible(type);
        }
    }

    /** Its class looks at files, which an event loop must not. */
    @BeforeAll
    static void loadAffinity() {
        assertThat(Affinity.getAffinity()).isNotNull();
    }

    @Test
    void aLoopRunsOnItsCore() throws Exception {
        EventLoopGroup group = BusyLoops.pinned(NioIoHandler.newFactory(), CORE);
        try {
            assertThat(group.submit(() -> Affinity.getAffinity().toString()).get())
                    .isEqualTo("{" + CORE + "}");
        } finally {
            group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        }
    }

    @Test
    void requestsAreAnsweredBetweenTwoBusyLoops(@TempDir Path directory) throws Exception {
        SharedMemoryAddress address = new SharedMemoryAddress(directory.resolve("busy"));
        EventLoopGroup servers = BusyLoops.pinned(NioIoHandler.newFactory(), CORE);
        EventLoopGroup clients = new MultiThreadIoEventLoopGroup(1, BusyLoops.busy(NioIoHandler.newFactory()));
        try {
            BusyLoops.bind(servers, address).sync();
            assertThat(BusyLoops.connect(clients, address, new BusyLoops.Requests(100))
                            .sync()
                            .channel()
                            .closeFuture()
                            .await(20, TimeUnit.SECONDS))
                    .isTrue();
        } finally {
            clients.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
            servers.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        }
    }
}
