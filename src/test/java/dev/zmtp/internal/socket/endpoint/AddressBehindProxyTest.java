package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.PAIR;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent.HandshakeFailed;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.TestSockets;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

/** Peers behind a proxy that tells their addresses. */
class AddressBehindProxyTest {

    private static final InetSocketAddress ADDRESS = new InetSocketAddress("192.0.2.7", 77);

    @Test
    void aRefusalNamesThePeerAndNotTheProxy(TestSockets sockets) {
        try (CapturedLog log = new CapturedLog("dev.zmtp.socket.EndedPeers")) {
            ZMTPSocket pair = sockets.open(sockets.builder(PAIR)
                    .pipelineInitializer((endpoint, pipeline) ->
                            pipeline.channel().attr(ZMTPCodec.PEER_ADDRESS).set(ADDRESS)));
            TestSockets.Events events = TestSockets.events(pair);
            String endpoint = bind(pair, "tcp://127.0.0.1:*");
            connect(sockets.open(PAIR), endpoint);

            sockets.open(PAIR).connect(endpoint);

            assertThat(events.next(HandshakeFailed.class).address()).isEqualTo(ADDRESS);
            TestSockets.await("a line", () -> !log.lines.isEmpty());
            assertThat(log.lines).first().asString().contains("refused /192.0.2.7:77: ");
        }
    }
}
