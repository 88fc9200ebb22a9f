package dev.zmtp.codec.hostile;

import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.JavaProcess;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A process that stands still, as in a long collection or on a virtual machine that is moved, and then goes on. */
@Tag("linux") // signals
@Tag("slow")
class StalledProcessIT {

    /** To close the connection if nothing comes for a second. */
    private static final String PING = "04 09 04 \"PING\" 00 0a ";

    private static final int GREETING_LENGTH = 64;

    /** A ROUTER with all defaults but one, which says at which port it listens. */
    static final class Server {
        private Server() {}

        /** Listens until it is killed; the argument is the milliseconds that a handshake may take. */
        public static void main(String[] args) throws InterruptedException {
            ZMTPConfig config = ZMTPConfig.builder()
                    .socketType(ROUTER)
                    .handshakeTimeout(Duration.ofMillis(Long.parseLong(args[0])))
                    .build();
            Channel server = new ServerBootstrap()
                    .group(EventLoops.newGroup(1))
                    .channel(NioServerSocketChannel.class)
                    .childHandler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel ch) {
                            ch.pipeline().addLast(ZMTPCodec.from(config));
                        }
                    })
                    .bind(InetAddress.getLoopbackAddress(), 0)
                    .sync()
                    .channel();
            System.out.println(((InetSocketAddress) server.localAddress()).getPort());
            server.closeFuture().sync();
        }
    }

    private static void signal(String signal, JavaProcess process) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
                        .inheritIO()
                        .start()
                        .waitFor())
                .isZero();
    }

    private static void ping(Socket peer, String context) throws IOException {
        peer.getOutputStream().write(Hex.bytes(PING + context));
    }

    /** Reads until the answer to the PING with this context, which fails at the end of the connection. */
    private static void awaitPong(Socket peer, String context) throws IOException {
        InputStream in = peer.getInputStream();
        String wanted = Hex.of("04 07 04 \"PONG\" " + context);
        StringBuilder heard = new StringBuilder();
        while (heard.indexOf(wanted) < 0) {
            int next = in.read();
            assertThat(next).as("after %s", heard).isNotNegative();
            heard.append(String.format("%02x", next));
        }
    }

    private static Socket connect(int port) throws IOException {
        Socket peer = new Socket(InetAddress.getLoopbackAddress(), port);
        peer.setSoTimeout(30_000);
        return peer;
    }

    @Test
    void givesAHandshakeTheTimeThatItStoodStill() throws Exception {
        try (JavaProcess server = new JavaProcess(JavaProcess.command(List.of(), Server.class, "2000"));
                Socket peer = connect(Integer.parseInt(server.line()))) {
            peer.getOutputStream().write(Hex.bytes(GREETING));
            assertThat(peer.getInputStream().readNBytes(GREETING_LENGTH)).hasSize(GREETING_LENGTH);
            signal("STOP", server);
            assertThat(server.endsWithin(Duration.ofSeconds(3))).isFalse();
            signal("CONT", server);
            assertThat(server.endsWithin(Duration.ofMillis(200))).isFalse();
            peer.getOutputStream().write(Hex.bytes(ready("DEALER")));
            ping(peer, "61 61");
            awaitPong(peer, "61 61");
        }
    }

    @Test
    void doesNotTakeItsOwnPauseForTheSilenceOfItsPeers() throws Exception {
        List<Socket> peers = new ArrayList<>();
        try (JavaProcess server = new JavaProcess(JavaProcess.command(List.of(), Server.class, "30000"))) {
            int port = Integer.parseInt(server.line());
            for (int i = 0; i < 10; i++) {
                Socket peer = connect(port);
                peers.add(peer);
                peer.getOutputStream().write(Hex.bytes(GREETING + ready("DEALER")));
                ping(peer, "61 61");
                awaitPong(peer, "61 61");
            }
            for (int round = 0; round < 3; round++) {
                signal("STOP", server);
                for (int i = 0; i < 5; i++) { // for longer than the TTL
                    for (Socket peer : peers) {
                        ping(peer, "62 62");
                    }
                    assertThat(server.endsWithin(Duration.ofMillis(300))).isFalse();
                }
                signal("CONT", server);
                for (Socket peer : peers) {
                    ping(peer, "63 63");
                    awaitPong(peer, "63 63");
                }
            }
        } finally {
            for (Socket peer : peers) {
                peer.close();
            }
        }
    }
}
