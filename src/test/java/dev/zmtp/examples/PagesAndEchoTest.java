package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("netty-4.2-only") // the example has an event loop group of Netty 4.2
class PagesAndEchoTest {

    @Test
    void aPathOfAnHttpServerSpeaksZmtp(TestSockets sockets) throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            InetSocketAddress address = (InetSocketAddress)
                    PagesAndEcho.bind(group, 0).sync().channel().localAddress();
            String server = address.getAddress().getHostAddress() + ":" + address.getPort();
            ZMTPSocket dealer = sockets.open(DEALER);
            dealer.connect("ws://" + server + "/echo");

            dealer.send(TestSockets.message("question", "1"));

            assertThat(TestSockets.receive(dealer)).containsExactly("question", "1");
            try (InputStream page = URI.create("http://" + server + "/").toURL().openStream()) {
                assertThat(new String(page.readAllBytes(), StandardCharsets.UTF_8))
                        .isEqualTo("a page\n");
            }
        } finally {
            group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        }
    }
}
