package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeLimiter;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.security.ZMTPAddressAuthenticator;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.AddressedChannel;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import dev.zmtp.testing.TestSockets;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.haproxy.HAProxyMessageDecoder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The handlers of {@code docs/securing-a-service.md} for services after a proxy. */
class ProxiedServiceTest {

    private static final String V1 = "\"PROXY\" 20 \"TCP4\" 20 \"%s\" 20 \"192.0.2.1\" 20 \"1024\" 20 \"5555\" 0d0a ";
    private static final String SIGNATURE_OF_V2 = "0d0a0d0a 00 0d0a \"QUIT\" 0a ";

    private static final ZMTPConfig CONFIG = ZMTPConfig.builder()
            .socketType(ROUTER)
            .authenticator(ZMTPAddressAuthenticator.of(List.of("198.51.100.0/24", "2001:db8::/32")))
            .build();

    private static ScriptedPeer connected() {
        return new ScriptedPeer(handlers(ProxiedService.limiter()));
    }

    private static ChannelHandler handlers(ZMTPHandshakeLimiter limiter) {
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                ProxiedService.addHandlers(ch, limiter, CONFIG);
            }
        };
    }

    private static ZMTPException failure(ScriptedPeer peer) {
        return (ZMTPException) peer.onlyEvent(ZMTPHandshakeFailure.class).cause();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"PROXY\" 20 \"TCP4\" 20 \"198.51.100.7\" 20 \"192.0.2.1\" 20 \"1024\" 20 \"5555\" 0d0a ",
                "\"PROXY\" 20 \"TCP6\" 20 \"2001:db8::7\" 20 \"2001:db8::1\" 20 \"1024\" 20 \"5555\" 0d0a ",
                SIGNATURE_OF_V2 + "21 11 000c c6336407 c0000201 0400 15b3"
            })
    void theAddressInTheHeaderIsTheOneThatIsChecked(String header) {
        byte[] bytes = Hex.bytes(header + GREETING + ready("DEALER"));
        for (int split = 1; split < bytes.length; split++) {
            try (ScriptedPeer peer = connected()) {
                peer.send(bytes, split);
                peer.onlyEvent(ZMTPHandshakeSuccess.class);
                assertThat(peer.channel.pipeline().get(ProxiedService.ProxyHeader.class))
                        .isNull();
            }
        }
    }

    @Test
    void anotherAddressIsDeniedAndShown() {
        try (ScriptedPeer peer = connected()) {
            peer.send(V1.formatted("203.0.113.9") + GREETING);
            assertThat(failure(peer))
                    .hasMessage(
                            "authentication: 400, address /203.0.113.9:1024 (expected: 200), peer /203.0.113.9:1024");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"PROXY\" 20 \"UNKNOWN\" 0d0a ", SIGNATURE_OF_V2 + "20 00 0000"})
    void aHeaderWithoutAnAddressChangesNothing(String header) {
        try (ScriptedPeer peer = connected()) {
            peer.send(header + GREETING);
            assertThat(failure(peer)).hasMessageEndingWith(", peer " + peer.channel.remoteAddress());
        }
    }

    @Test
    void aPeerWithoutAHeaderGetsNoAnswerUntilTheHandshakeTimesOut() {
        ScriptedPeer peer = new ScriptedPeer();
        peer.channel.freezeTime();
        peer.channel
                .pipeline()
                .addFirst(new HAProxyMessageDecoder(), new ProxiedService.ProxyHeader(), ZMTPCodec.from(CONFIG));
        try (peer) {
            peer.received(); // our signature, which is sent at once
            peer.send(GREETING);
            peer.channel.advanceTimeBy(29, TimeUnit.SECONDS);
            peer.channel.runScheduledPendingTasks();
            assertThat(peer.events).isEmpty();
            assertThat(peer.received()).isEmpty();
            peer.channel.advanceTimeBy(1, TimeUnit.SECONDS);
            peer.channel.runScheduledPendingTasks();
            assertThat(failure(peer).code()).isEqualTo(ZMTPException.Code.HANDSHAKE_TIMEOUT);
        }
    }

    @Test
    void aSocketCountsAndShowsThePeersAndNotTheProxy(TestSockets sockets) throws IOException {
        ZMTPSocketConfig config = ProxiedService.socket();
        ZMTPHandshakeLimiter limiter = config.handshakeLimiter();
        ZMTPSocket router = sockets.open(config.toBuilder());
        TestSockets.Events events = TestSockets.events(router);
        String bound = TestSockets.bind(router, "tcp://127.0.0.1:*");
        int port = Integer.parseInt(bound.substring(bound.lastIndexOf(':') + 1));
        try (Socket proxy = new Socket(InetAddress.getLoopbackAddress(), port)) {
            TestSockets.await("its handshake", () -> limiter.handshakeCount() == 1);
            proxy.getOutputStream().write(Hex.bytes(V1.formatted("198.51.100.7") + GREETING + ready("DEALER")));
            assertThat(events.next(ZMTPSocketEvent.PeerUp.class)
                            .peer()
                            .session()
                            .peerAddress())
                    .isEqualTo(AddressedChannel.address("198.51.100.7", 1024));
            TestSockets.await("its end", () -> limiter.handshakeCount() == 0);
        }
    }

    @Test
    void theHandshakesOfAPeerAreLimitedAndNotThoseOfTheProxy() {
        ZMTPHandshakeLimiter limiter = ProxiedService.limiter();
        List<AddressedChannel> connections = new ArrayList<>();
        for (int port = 1; port <= 1030; port++) {
            connections.add(new AddressedChannel("192.0.2.200", port, handlers(limiter)));
        }
        assertThat(limiter.handshakeCount()).isEqualTo(1030);
        for (AddressedChannel connection : connections) {
            connection.writeInbound(Unpooled.wrappedBuffer(Hex.bytes(V1.formatted("198.51.100.7"))));
        }
        assertThat(limiter.handshakeCount()).isEqualTo(1024);
        assertThat(connections.get(1023).isOpen()).isTrue();
        assertThat(connections.get(1024).isOpen()).isFalse();
        connections.forEach(EmbeddedChannel::finishAndReleaseAll);
    }
}
