package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.testing.EventLoops;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The other side cuts the file short, a hundred times, and holds its end of the socket. */
@Timeout(120)
class SharedMemoryCutShortTest {

    private static final int ROUNDS = 100;
    private static final int CAPACITY = 64 << 10;
    private static final int LENGTH = 30_000;

    /** With this length, the positions of both rings are there, and of what the client has written the first part. */
    private static final int POSITIONS_ONLY = 68 << 10;

    private static final String CUT_SHORT = "shared memory: the file was cut short";

    private static int one = 1;

    @SuppressWarnings("unused") // or no compiler would make it
    private static volatile byte[][] made;

    @TempDir
    Path directory;

    private final EventLoops loops = EventLoops.resting(1);
    private final BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private Path path;

    @BeforeEach
    @SuppressWarnings("deprecation") // its other name is not in Netty 4.1
    void bind() throws Exception {
        path = directory.resolve("server");
        new ServerBootstrap()
                .group(loops.group())
                .channel(SharedMemoryServerChannel.class)
                .childOption(SharedMemoryChannelOption.RING_CAPACITY, CAPACITY)
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(LENGTH))
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new Recorder());
                    }
                })
                .bind(new SharedMemoryAddress(path))
                .sync();
    }

    @AfterEach
    void end() {
        loops.close();
    }

    private final class Recorder extends SimpleChannelInboundHandler<ByteBuf> {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            accepted.add(ctx.channel());
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf bytes) {
            events.add(bytes.readableBytes() + " bytes");
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            events.add(cause.getMessage());
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            provokeError();
            events.add("inactive");
        }
    }

    /** A call into the JVM, which throws what this thread did not hear yet. */
    private static void provokeError() {
        made = new byte[one][one];
    }

    private static int mappings() throws IOException {
        String name = "netty-zmtp-";
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return (int) lines.filter(line -> line.contains(name)).count();
        }
    }

    /** What this side does then. */
    private enum Use {
        READ(0),
        READ_A_PART(POSITIONS_ONLY),
        WRITE(0),
        CLOSE(0);

        final int left;

        Use(int left) {
            this.left = left;
        }

        void of(Channel end) throws Exception {
            ChannelFuture used;
            switch (this) {
                case WRITE -> {
                    used = end.writeAndFlush(end.alloc().buffer().writeZero(LENGTH));
                    assertThat(used.await(10, TimeUnit.SECONDS)).isTrue();
                    assertThat(used.cause()).hasMessage(CUT_SHORT);
                }
                case CLOSE -> {
                    used = end.close();
                    assertThat(used.await(10, TimeUnit.SECONDS)).isTrue();
                    assertThat(used.cause()).isNull();
                }
                default -> end.read();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aChannelEndsAndLeavesNothing(Use use) throws Exception {
        int mappings = mappings();
        for (int i = 0; i < ROUNDS; i++) {
            Intruder intruder = Intruder.at(path);
            try (FileChannel file = intruder.open()) {
                intruder.accept();
                Channel end = accepted.poll(10, TimeUnit.SECONDS);
                SharedMemoryWriter writer = new SharedMemoryWriter(intruder.ring());
                writer.write(ByteBuffer.allocate(LENGTH));
                writer.flush();
                file.truncate(use.left);
                use.of(end);
                intruder.awaitEnd();
                if (use == Use.READ || use == Use.READ_A_PART) {
                    assertThat(events.poll(10, TimeUnit.SECONDS)).isEqualTo(CUT_SHORT);
                }
                assertThat(events.poll(10, TimeUnit.SECONDS)).isEqualTo("inactive");
                end.eventLoop().submit(SharedMemoryCutShortTest::provokeError).sync();
            }
            intruder.leave();
        }
        assertThat(mappings()).isLessThanOrEqualTo(mappings);
    }

    /** What a thread does with the socket. */
    private interface SocketUse {
        void of(SharedMemorySocket socket) throws IOException;
    }

    @Test
    void aReadOfASocketFails() throws Exception {
        assertFails(0, socket -> socket.inputStream().read(new byte[LENGTH]));
    }

    @Test
    void aReadOfASocketWithoutTheBytesFails() throws Exception {
        assertFails(4096, socket -> socket.inputStream().read(new byte[LENGTH]));
    }

    @Test
    void aSocketDoesNotKnowWhatIsAvailable() throws Exception {
        assertFails(0, socket -> socket.inputStream().available());
    }

    @Test
    void aWriteToASocketFails() throws Exception {
        assertFails(0, socket -> {
            socket.outputStream().write(new byte[LENGTH]);
            socket.outputStream().flush();
        });
    }

    private void assertFails(int left, SocketUse use) throws Exception {
        Path other = directory.resolve("other");
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(other));
            for (int i = 0; i < ROUNDS; i++) {
                assertFailsOnce(server, new SharedMemoryAddress(other), left, use);
            }
        }
    }

    private static void assertFailsOnce(
            ServerSocketChannel server, SharedMemoryAddress address, int left, SocketUse use) throws Exception {
        SharedFile shared = SharedDirectory.standard().create(Invitation.RINGS, CAPACITY);
        try (shared;
                FileChannel file = FileChannel.open(shared.path(), StandardOpenOption.WRITE);
                BothEnds meeting = BothEnds.of(server, address, shared)) {
            SharedMemoryWriter writer = RingPair.of(shared, true).writer();
            writer.write(ByteBuffer.allocate(LENGTH));
            writer.flush();
            file.truncate(left);
            assertThatThrownBy(() -> use.of(meeting.client))
                    .isExactlyInstanceOf(IOException.class)
                    .hasMessage(CUT_SHORT);
            provokeError();
            assertThatThrownBy(() -> meeting.client.inputStream().read())
                    .isInstanceOf(java.nio.channels.ClosedChannelException.class);
        }
    }

    /** Both ends of a socket whose server is the test. */
    private record BothEnds(SocketChannel end, SharedMemorySocket client) implements AutoCloseable {

        static BothEnds of(ServerSocketChannel server, SharedMemoryAddress address, SharedFile file) throws Exception {
            BlockingQueue<SharedMemorySocket> clients = new LinkedBlockingQueue<>();
            Thread connecting = new Thread(() -> {
                try {
                    clients.add(SharedMemorySocket.connect(address));
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            connecting.start();
            SocketChannel end = server.accept();
            ByteBuf invitation = Unpooled.buffer();
            new Invitation(file.path(), CAPACITY).write(invitation);
            end.write(invitation.nioBuffer());
            end.read(ByteBuffer.allocate(Invitation.ANSWER));
            file.unlink();
            return new BothEnds(end, clients.poll(10, TimeUnit.SECONDS));
        }

        @Override
        public void close() throws IOException {
            client.close();
            end.close();
        }
    }
}
