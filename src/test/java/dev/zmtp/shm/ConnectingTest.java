package dev.zmtp.shm;

import static dev.zmtp.shm.ChannelEnds.next;
import static dev.zmtp.shm.ChannelEnds.settle;
import static dev.zmtp.shm.ChannelEnds.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.testing.Blocking;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.Hex;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import java.lang.ref.WeakReference;
import java.net.BindException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How a channel is connected, or is not. */
@Timeout(60)
class ConnectingTest {

    @TempDir
    Path directory;

    private ChannelEnds ends;

    @BeforeEach
    void begin() {
        ends = new ChannelEnds(directory);
    }

    @AfterEach
    void end() {
        ends.close();
    }

    /** A server that invites nobody. */
    private ServerSocketChannel silentServer() throws Exception {
        return ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                .bind(UnixDomainSocketAddress.of(ends.address.path()));
    }

    @Test
    void whoCancelsAConnectClosesTheChannel() throws Exception {
        try (ServerSocketChannel server = silentServer()) {
            Channel client = ends.client().register().sync().channel();
            ChannelFuture connecting = client.connect(ends.address);
            try (SocketChannel there = server.accept()) {
                assertThat(connecting.cancel(false)).isTrue();
                assertThat(client.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
                assertThat(connecting.isCancelled()).isTrue();
                assertThat(there.isOpen()).isTrue();
            }
        }
    }

    /** The event loop has not heard of it yet. */
    @Test
    void aConnectThatWasCancelledDoesNotSucceed() throws Exception {
        SharedMemoryChannel client =
                (SharedMemoryChannel) ends.client().register().sync().channel();
        ChannelPromise promise = client.newPromise();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        Future<Boolean> success = client.eventLoop().submit(() -> {
            PendingConnect connect = new PendingConnect(client);
            connect.begin(promise);
            begun.countDown();
            Blocking.allow(cancelled::await);
            connect.stopTimeout();
            return connect.succeed();
        });
        begun.await();
        promise.cancel(false);
        cancelled.countDown();
        assertThat(success.get()).isFalse();
        assertThat(client.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aSecondConnectFailsAndTheFirstGoesOn() throws Exception {
        ends.server().bind(ends.address).sync();
        Channel client = ends.client().register().sync().channel();
        ChannelFuture first = client.connect(ends.address);
        ChannelFuture second = client.connect(ends.address).await();
        assertThat(second.cause()).isInstanceOf(AlreadyConnectedException.class);
        assertThat(first.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(client.isActive()).isTrue();
        assertThat(client.connect(ends.address).await().cause()).isInstanceOf(AlreadyConnectedException.class);
        assertThat(client.isActive()).isTrue();
    }

    /** What is due runs before the loop looks at its sockets again, if it is a handler that kept it. */
    @Test
    void aLoopThatStoodStillReadsTheAnswerBeforeItGivesUp() throws Exception {
        try (ServerSocketChannel server = silentServer();
                EventLoops one = EventLoops.resting(1)) {
            Channel client = ends.client()
                    .clone(one.group())
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 1)
                    .register()
                    .sync()
                    .channel();
            BlockingQueue<ChannelFuture> connecting = new LinkedBlockingQueue<>();
            CountDownLatch answered = new CountDownLatch(1);
            connectAndWait(one, () -> {
                connecting.add(client.connect(ends.address));
                answered.await();
            });
            try (SocketChannel waiting = server.accept()) {
                waiting.write(ByteBuffer.allocate(1));
                try (SocketChannel meeting = server.accept()) {
                    long late = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(2);
                    meeting.write(ByteBuffer.wrap(Hex.bytes("\"ZSHM\" 02 00000000 0004 \"full\"")));
                    until(() -> System.nanoTime() > late);
                    answered.countDown();
                    assertThatThrownBy(connecting.take()::sync)
                            .hasMessage("shared memory: the server has no file: full");
                }
            }
        }
    }

    /** Connects a plain socket whose handler does this work, which may block, when it reads. */
    private void connectAndWait(EventLoops loops, Blocking.Work work) throws InterruptedException {
        new Bootstrap()
                .group(loops.group())
                .channel(NioDomainSocketChannel.class)
                .handler(new SimpleChannelInboundHandler<ByteBuf>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext ctx, ByteBuf bytes) throws Exception {
                        Blocking.allow(work);
                    }
                })
                .connect(UnixDomainSocketAddress.of(ends.address.path()))
                .sync();
    }

    @Test
    void aChannelThatIsClosedMeanwhileFailsItsConnect() throws Exception {
        try (ServerSocketChannel server = silentServer()) {
            Channel client = ends.client().register().sync().channel();
            ChannelFuture connecting = client.connect(ends.address);
            client.close().sync();
            assertThat(connecting.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(connecting.cause()).isInstanceOf(ClosedChannelException.class);
            assertThat(server.isOpen()).isTrue();
        }
    }

    @Test
    void aServerThatCannotBindNamesThePathAndHasNoAddress() throws Exception {
        ends.server().bind(ends.address).sync();
        Channel second = ends.server().register().sync().channel();
        assertThatThrownBy(() -> second.bind(ends.address).sync())
                .isInstanceOf(BindException.class)
                .hasMessageEndingWith(": " + ends.address);
        assertThat(second.localAddress()).isNull();
        assertThat(second.isActive()).isFalse();
    }

    @Test
    void aServerAcceptsWhenItReads() throws Exception {
        Channel server = ends.server()
                .option(ChannelOption.AUTO_READ, false)
                .bind(ends.address)
                .sync()
                .channel();
        ChannelFuture connecting = ends.client().connect(ends.address);
        for (int i = 0; i < 20; i++) {
            settle(server);
        }
        assertThat(connecting.isDone()).isFalse();
        server.read();
        assertThat(connecting.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(connecting.isSuccess()).isTrue();
    }

    @Test
    void aReadBeforeTheSidesHaveMetIsMadeThen() throws Exception {
        Channel server = ends.server()
                .option(ChannelOption.AUTO_READ, false)
                .bind(ends.address)
                .sync()
                .channel();
        ChannelFuture connecting =
                ends.client().option(ChannelOption.AUTO_READ, false).connect(ends.address);
        connecting.channel().read();
        settle(connecting.channel());
        server.read();
        connecting.sync();
        settle(connecting.channel());

        ends.accepted().writeAndFlush(Hex.buffer("01 02")).sync();

        assertThat(next(ends.atClient)).isEqualTo("0102");
    }

    @Test
    void aServersEndHasNoRemoteAddress() throws Exception {
        ends.server().bind(ends.address).sync();
        ends.connect();
        assertThat(ends.accepted().remoteAddress()).isNull();
    }

    @Test
    void aClientHearsThatItsServerHasBrokenTheRing() throws Exception {
        ends.server().bind(ends.address).sync();
        SharedMemoryChannel client = ends.connect();
        client.eventLoop()
                .submit(() -> client.fail(new IllegalStateException("broken")))
                .sync();
        assertThat(next(ends.atClient)).isEqualTo("broken");
        assertThat(next(ends.atClient)).isEqualTo("inactive");
    }

    @Test
    @SuppressWarnings("deprecation") // the option, which has no other name in Netty 4.1
    void aReadWithoutAutoReadGetsOneBuffer() throws Exception {
        ends.server()
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(2))
                .bind(ends.address)
                .sync();
        SharedMemoryChannel client = ends.connect();
        Channel end = ends.accepted();
        client.writeAndFlush(Hex.buffer("01 02 03 04 05 06")).sync();
        end.read();
        assertThat(next(ends.atServer)).isEqualTo("0102");
        settle(end);
        assertThat(ends.atServer).isEmpty();
        end.read();
        assertThat(next(ends.atServer)).isEqualTo("0304");
    }

    @Test
    void anEventLoopThatEndsEndsAChannelWithUnreadBytes() throws Exception {
        ends.server()
                .childOption(ChannelOption.AUTO_READ, false)
                .bind(ends.address)
                .sync();
        SharedMemoryChannel client = ends.connect();
        Channel end = ends.accepted();
        client.writeAndFlush(Hex.buffer("01")).sync();
        client.close().sync();
        until(() -> !((SharedMemoryChannel) end).socket().isOpen()); // so that nothing but the loop can tell it
        settle(end);
        assertThat(end.isOpen()).isTrue();
        ends.loops.close();
        assertThat(end.isOpen()).isFalse();
        assertThat(next(ends.atServer)).isEqualTo("inactive");
    }

    @Test
    void anEventLoopKeepsNoChannelThatIsClosed() throws Exception {
        ends.server().bind(ends.address).sync();
        WeakReference<Channel> closed = new WeakReference<>(ends.connect());
        closed.get().close().sync();
        assertThat(next(ends.atServer)).isEqualTo("inactive");
        until(() -> {
            System.gc();
            return closed.get() == null;
        });
    }

    /** The rings are made on another thread, and the channel may be closed meanwhile. */
    @Test
    void aChannelThatWasClosedBeforeItHasItsRingsStaysClosed() throws Exception {
        ends.server().bind(ends.address).sync();
        SharedMemoryChannel client = ends.connect();
        client.close().sync();
        SharedFile file = SharedFile.create(directory.resolve("late"), 2, 4096);
        client.eventLoop().submit(() -> client.met(RingPair.of(file, false))).sync();
        assertThat(client.isActive()).isFalse();
    }

    @Test
    @SuppressWarnings("deprecation") // the option, which has no other name in Netty 4.1
    void aChannelThatSleepsKeepsNoBuffer() throws Exception {
        Queue<ByteBuf> buffers = new ConcurrentLinkedQueue<>();
        ends.server()
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, recorded(buffers))
                .bind(ends.address)
                .sync();
        SharedMemoryChannel client = ends.connect();
        client.writeAndFlush(Hex.buffer("01")).sync();
        assertThat(next(ends.atServer)).isEqualTo("01");
        until(() -> buffers.size() > 1 && buffers.stream().allMatch(buffer -> buffer.refCnt() == 0));
    }

    /** Adds each buffer that it makes to {@code buffers}. */
    @SuppressWarnings("deprecation") // the handle, which has no other name in Netty 4.1
    private static RecvByteBufAllocator recorded(Queue<ByteBuf> buffers) {
        RecvByteBufAllocator allocator = new FixedRecvByteBufAllocator(64);
        return () -> new RecvByteBufAllocator.DelegatingHandle(allocator.newHandle()) {
            @Override
            public ByteBuf allocate(ByteBufAllocator alloc) {
                ByteBuf buffer = super.allocate(alloc);
                buffers.add(buffer);
                return buffer;
            }
        };
    }

    @Test
    void readsInARowAreOneTurn() throws Exception {
        ends.server()
                .childOption(ChannelOption.AUTO_READ, false)
                .bind(ends.address)
                .sync();
        ends.connect();
        Channel end = ends.accepted();
        int turns = end.eventLoop()
                .submit(() -> {
                    int before = pending(end);
                    end.read();
                    end.read();
                    end.read();
                    return pending(end) - before;
                })
                .get();
        assertThat(turns).isLessThanOrEqualTo(1);
    }

    private static int pending(Channel channel) {
        return ((SingleThreadEventLoop) channel.eventLoop()).pendingTasks();
    }
}
