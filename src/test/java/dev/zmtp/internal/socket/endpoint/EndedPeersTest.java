package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.PAIR;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.logging.Level;
import org.junit.jupiter.api.Test;

/** What the side that accepts says of peers that it disconnects. */
class EndedPeersTest {

    private static final String LOGGER = "dev.zmtp.socket.EndedPeers";

    private static ZMTPSocket pull(TestSockets sockets) {
        return sockets.open(
                sockets.builder(PULL).codec(codec -> codec.maxFrameLength(100).maxMessageLength(100)));
    }

    @Test
    void aPeerThatIsDisconnectedForALimitIsNamedInTheLogWithTheReason(TestSockets sockets) {
        try (CapturedLog log = new CapturedLog(LOGGER)) {
            ZMTPSocket pull = pull(sockets);
            TestSockets.Events events = TestSockets.events(pull);
            ZMTPSocket push = sockets.open(PUSH);
            String endpoint = bind(pull, "tcp://127.0.0.1:*");
            TestSockets.connect(push, endpoint);

            push.sendAsync(message("x".repeat(101)));

            events.next(ZMTPSocketEvent.PeerDown.class);
            assertThat(log.records)
                    .singleElement()
                    .satisfies(line -> assertThat(line.getLevel()).isEqualTo(Level.WARNING))
                    .satisfies(line -> assertThat(line.getMessage())
                            .startsWith(endpoint + " disconnected /127.0.0.1:")
                            .contains("frame length: 101"));
        }
    }

    @Test
    void manyOfThemAreOneLineASecond(TestSockets sockets) {
        try (CapturedLog log = new CapturedLog(LOGGER)) {
            ZMTPSocket pull = pull(sockets);
            TestSockets.Events events = TestSockets.events(pull);
            String endpoint = bind(pull, "tcp://127.0.0.1:*");
            long begin = System.nanoTime();
            int peers = 10;
            for (int i = 0; i < peers; i++) {
                ZMTPSocket push = sockets.open(PUSH);
                TestSockets.connect(push, endpoint);
                push.sendAsync(message("x".repeat(101)));
                events.next(ZMTPSocketEvent.PeerDown.class);
            }
            assertThat(log.lines)
                    .hasSizeLessThanOrEqualTo(2
                            + (int) Duration.ofNanos(System.nanoTime() - begin).toSeconds());
        }
    }

    @Test
    void aPeerThatClosesIsNot(TestSockets sockets) {
        try (CapturedLog log = new CapturedLog(LOGGER)) {
            ZMTPSocket pull = pull(sockets);
            TestSockets.Events events = TestSockets.events(pull);
            ZMTPSocket push = sockets.open(PUSH);
            TestSockets.connect(push, bind(pull, "tcp://127.0.0.1:*"));

            push.close();

            events.next(ZMTPSocketEvent.PeerDown.class);
            assertThat(log.lines).isEmpty();
        }
    }

    @Test
    void aPeerThatIsRefusedAfterItsHandshakeIsNamedInTheLogWithTheReason(TestSockets sockets) {
        try (CapturedLog log = new CapturedLog(LOGGER)) {
            ZMTPSocket bound = sockets.open(PAIR);
            TestSockets.Events events = TestSockets.events(bound);
            String endpoint = bind(bound, "tcp://127.0.0.1:*");
            TestSockets.connect(sockets.open(PAIR), endpoint);

            sockets.open(PAIR).connect(endpoint);

            events.next(ZMTPSocketEvent.HandshakeFailed.class);
            assertThat(log.records)
                    .singleElement()
                    .satisfies(line -> assertThat(line.getLevel()).isEqualTo(Level.WARNING))
                    .satisfies(line -> assertThat(line.getMessage())
                            .startsWith(endpoint + " refused /127.0.0.1:")
                            .contains("peer"));
        }
    }
}
