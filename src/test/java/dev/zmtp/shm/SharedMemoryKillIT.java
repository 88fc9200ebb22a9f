package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.JavaProcess;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** One of two processes is killed, with SIGKILL. */
@Timeout(120)
@Tag("slow")
class SharedMemoryKillIT {

    private static final int LENGTH = 1000;

    @TempDir
    Path directory;

    private final EventLoops loops = new EventLoops(1);
    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private JavaProcess other;

    @AfterEach
    void end() throws IOException {
        loops.close();
        if (other != null) {
            other.close();
        }
    }

    /** The other process: {@code serve <path>}, or {@code send <path>}, which fills the ring and says so. */
    public static final class Other {
        private Other() {}

        public static void main(String... args) throws Exception {
            SharedMemoryAddress address = new SharedMemoryAddress(args[1]);
            if (args[0].equals("serve")) {
                new ServerBootstrap()
                        .group(EventLoops.newGroup(1))
                        .channel(SharedMemoryServerChannel.class)
                        .childHandler(new ChannelInboundHandlerAdapter())
                        .bind(address)
                        .sync();
            } else {
                Channel channel = new Bootstrap()
                        .group(EventLoops.newGroup(1))
                        .channel(SharedMemoryChannel.class)
                        .handler(new ChannelInboundHandlerAdapter())
                        .connect(address)
                        .sync()
                        .channel();
                channel.writeAndFlush(channel.alloc().buffer().writeZero(LENGTH))
                        .sync();
            }
            System.out.println("ready");
            System.in.read();
        }
    }

    private void start(String role, Path path) throws Exception {
        other = new JavaProcess(JavaProcess.command(List.of(), Other.class, role, path.toString()));
        assertThat(other.line()).isEqualTo("ready");
    }

    private ChannelInitializer<Channel> recorder() {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(handler());
            }
        };
    }

    private ChannelHandler handler() {
        return new SimpleChannelInboundHandler<ByteBuf>() {
            private int bytes;

            @Override
            public void channelActive(ChannelHandlerContext ctx) {
                events.add("active");
            }

            @Override
            protected void channelRead0(ChannelHandlerContext ctx, ByteBuf read) {
                bytes += read.readableBytes();
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                events.add("inactive after " + bytes);
            }
        };
    }

    private String event() throws InterruptedException {
        return events.poll(10, TimeUnit.SECONDS);
    }

    private ChannelFuture connect(Path path) {
        return new Bootstrap()
                .group(loops.group())
                .channel(SharedMemoryChannel.class)
                .handler(recorder())
                .connect(new SharedMemoryAddress(path));
    }

    @Test
    void theClientNoticesThatTheServerWasKilled() throws Exception {
        Path path = directory.resolve("server");
        start("serve", path);
        connect(path).sync();
        assertThat(event()).isEqualTo("active");
        other.kill();
        assertThat(event()).isEqualTo("inactive after 0");
    }

    @Test
    void aWriteWithoutRoomFailsWhenTheServerIsKilled() throws Exception {
        Path path = directory.resolve("server");
        start("serve", path);
        Channel client = connect(path).sync().channel();
        new ProcessBuilder("kill", "-STOP", Long.toString(other.pid())).start().waitFor(); // it reads nothing
        ChannelFuture write = client.writeAndFlush(client.alloc().buffer().writeZero(1 << 20));
        client.eventLoop().submit(() -> {}).sync();
        assertThat(write.isDone()).isFalse();
        other.kill();
        assertThat(write.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(write.cause()).isInstanceOf(IOException.class);
    }

    @Test
    void whatAClientWroteArrivesAfterItWasKilled() throws Exception {
        Path path = directory.resolve("server");
        new ServerBootstrap()
                .group(loops.group())
                .channel(SharedMemoryServerChannel.class)
                .childHandler(recorder())
                .bind(new SharedMemoryAddress(path))
                .sync();
        start("send", path);
        assertThat(event()).isEqualTo("active");
        other.kill();
        assertThat(event()).isEqualTo("inactive after " + LENGTH);
    }

    private static Invitation read(SocketChannel socket) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(4096);
        socket.read(bytes);
        return Invitation.read(Unpooled.wrappedBuffer(bytes.flip()));
    }

    @Test
    void aServerThatIsKilledDuringTheMeetingLeavesNoFileToAClientThatAccepts() throws Exception {
        Path path = directory.resolve("server");
        start("serve", path);
        try (SocketChannel socket = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            Invitation invitation = read(socket);
            assertThat(invitation.file()).exists();
            other.kill();
            invitation.accept();
            assertThat(invitation.file()).doesNotExist();
        }
    }

    /** However long it waits for its client. */
    @Test
    void aFileIsStaleOnceItsServerWasKilled() throws Exception {
        Path path = directory.resolve("server");
        start("serve", path);
        try (SocketChannel socket = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            Path file = read(socket).file();
            Files.setLastModifiedTime(file, FileTime.from(Instant.now().minusSeconds(1000)));
            SharedDirectory.standard().removeStale();
            assertThat(file).exists();
            other.kill();
            SharedDirectory.standard().removeStale();
            assertThat(file).doesNotExist();
        }
    }

    /** The JVM turns the fault into an error of the thread, which must not meet it where that ends the process. */
    @Test
    void aFileThatIsCutShortDoesNotEndTheProcess() throws Exception {
        Path path = directory.resolve("server");
        start("serve", path);
        try (SocketChannel socket = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            Invitation invitation = read(socket);
            try (FileChannel file = FileChannel.open(invitation.file(), StandardOpenOption.WRITE)) {
                RingPair rings = invitation.accept();
                socket.write(ByteBuffer.wrap(Invitation.answer(rings.file())));
                file.truncate(0);
            }
            socket.write(ByteBuffer.wrap(new byte[1]));
            assertThat(other.endsWithin(Duration.ofSeconds(1))).isFalse();
        }
    }

    @Test
    void aServerThatWasKilledListensNoMore() throws Exception {
        Path path = directory.resolve("server");
        start("serve", path);
        other.kill();
        assertThat(connect(path).await().cause()).isInstanceOf(ConnectException.class);
    }
}
