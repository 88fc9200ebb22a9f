package dev.zmtp.codec;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.internal.admission.ConnectionRegistry;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.LoopbackServer;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Floods of idle strangers on real sockets, and newcomers that come after them. The strangers come from addresses of
 * the loopback network, of which Linux has all.
 */
@Tag("linux")
class LimitersIT {

    private static final byte[] HANDSHAKE = Hex.bytes(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, DEALER));
    private static final byte[] MESSAGE = Hex.bytes("00 05 \"hello\"");
    private static final int GREETING_LENGTH = 64;

    /** 127.0.0.1, as the kernel writes it in its tables. */
    private static final String LOCALHOST = "0100007F";

    private static final int READY_LENGTH = 43;

    private static final Path[] KERNEL_SOCKETS = {Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6")};
    private static final String TIME_WAIT = "06";

    private final EventLoops loops = new EventLoops(2);
    private final List<Socket> sockets = new ArrayList<>();

    /** The log of a flood would drown that of the tests. */
    private final CapturedLog log = new CapturedLog(ZMTPConnectionLimiter.class.getPackageName());

    private final AtomicInteger accepted = new AtomicInteger();

    private InetSocketAddress address;

    private void serve(ChannelHandler... limiters) {
        Channel server = new ServerBootstrap()
                .group(loops.group())
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, 2048)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(limiters).addLast(ZMTPCodec.of(ROUTER), new Echo());
                        accepted.incrementAndGet();
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .syncUninterruptibly()
                .channel();
        address = (InetSocketAddress) server.localAddress();
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.writeAndFlush(message);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable reset) {
            ctx.close();
        }
    }

    private Socket connect(String from) throws IOException {
        Socket socket = new Socket(address.getAddress(), address.getPort(), InetAddress.getByName(from), 0);
        sockets.add(socket);
        socket.setSoTimeout((int) LoopbackServer.PATIENCE.toMillis());
        return socket;
    }

    /** Waits until the limiters have all connections, so that a newcomer is really one. */
    private void awaitAccepted() {
        LoopbackServer.await("accepted", () -> accepted.get() == sockets.size());
    }

    /** As other clients do, it connects again when it is refused: strangers keep it out for two seconds at most. */
    private void assertServedSoon(String from) {
        LoopbackServer.await("served", () -> {
            try {
                assertServed(from);
                return true;
            } catch (SocketException reset) {
                return false;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private void assertServed(String from) throws IOException {
        Socket newcomer = connect(from);
        newcomer.getOutputStream().write(HANDSHAKE);
        newcomer.getOutputStream().write(MESSAGE);
        newcomer.getInputStream().skipNBytes(GREETING_LENGTH + READY_LENGTH);
        assertThat(newcomer.getInputStream().readNBytes(MESSAGE.length)).isEqualTo(MESSAGE);
    }

    @AfterEach
    void closeAll() throws IOException {
        for (Socket socket : sockets) {
            socket.setSoLinger(true, 0);
            socket.close();
        }
        loops.close();
        log.close();
    }

    @Test
    void idleStrangersFromManyAddressesKeepNobodyOut() throws IOException {
        ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter(64, 8);
        serve(limiter);
        for (int i = 0; i < 640; i++) {
            connect("127.0.1." + (1 + i % 20));
        }
        awaitAccepted();
        for (int i = 0; i < 20; i++) {
            assertServed("127.0.2.1"); // has no stranger
            assertServedSoon("127.0.1." + (1 + i % 20)); // has many
        }
        assertThat(limiter.handshakeCount()).isLessThanOrEqualTo(64);
    }

    @Test
    void idleStrangersKeepNobodyOfTheirAddressOut() throws IOException {
        ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter(1024, 64);
        serve(limiter);
        for (int i = 0; i < 200; i++) {
            connect("127.0.0.1");
        }
        awaitAccepted();
        for (int i = 0; i < 12; i++) {
            assertServedSoon("127.0.0.1");
        }
        assertThat(limiter.handshakeCount()).isLessThanOrEqualTo(64);
    }

    @Test
    void idleStrangersKeepNobodyOutOfAServerThatLimitsItsConnections() throws IOException {
        ZMTPConnectionLimiter limiter = new ZMTPConnectionLimiter(64, 32, 1);
        serve(limiter, new ZMTPHandshakeLimiter(32, 16));
        for (int i = 0; i < 200; i++) {
            connect("127.0.1." + (1 + i % 20));
        }
        awaitAccepted();
        for (int i = 0; i < 20; i++) {
            assertServedSoon("127.0.2." + (1 + i));
            assertServedSoon("127.0.1." + (1 + i));
        }
        assertThat(limiter.connectionCount()).isBetween(40, 64);
    }

    @Test
    void theConnectionsOfAServerAreLimited() throws IOException {
        serve(new ZMTPConnectionLimiter(10, 2, 10));
        assertServed("127.0.0.1");
        assertServed("127.0.0.1");
        assertReset(connect("127.0.0.1"));
        assertServed("127.0.0.2");
    }

    @Test
    void aRefusedConnectionIsResetAndLeavesNoSocket() throws IOException {
        serve(new ZMTPConnectionLimiter(1, 1, 1));
        assertServed("127.0.0.1");
        for (int i = 0; i < 50; i++) {
            assertReset(connect("127.0.0.1"));
        }
        assertThat(socketsInTimeWait()).isEmpty();
    }

    @Test
    void aDroppedHandshakeIsResetAndLeavesNoSocket() throws IOException {
        AtomicLong tooLong = new AtomicLong();
        serve(new ZMTPHandshakeLimiter(1, 1, () -> tooLong.get() * ConnectionRegistry.PATIENCE));
        for (int i = 0; i < 50; i++) {
            Socket idle = connect("127.0.0.1");
            assertThat(idle.getInputStream().read()).isEqualTo(0xff); // our greeting
            tooLong.incrementAndGet();
        }
        for (Socket dropped : sockets.subList(0, 49)) {
            assertReset(dropped);
        }
        assertThat(socketsInTimeWait()).isEmpty();
    }

    private static void assertReset(Socket socket) {
        assertThatThrownBy(() -> socket.getInputStream().readAllBytes())
                .isInstanceOf(SocketException.class)
                .hasMessageContaining("reset");
    }

    /** The kernel's lines about sockets of our address in that state. Another address can have the same port. */
    private List<String> socketsInTimeWait() throws IOException {
        String local = String.format(Locale.ROOT, "%s:%04X", LOCALHOST, address.getPort());
        List<String> found = new ArrayList<>();
        for (Path table : KERNEL_SOCKETS) {
            if (Files.exists(table)) {
                for (String line : Files.readAllLines(table)) {
                    String[] fields = line.trim().split(" +", 5); // number, local address, peer's address, state
                    if (fields[1].endsWith(local) && fields[3].equals(TIME_WAIT)) {
                        found.add(line);
                    }
                }
            }
        }
        return found;
    }
}
