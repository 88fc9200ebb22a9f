package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a socket tells about messages that wait, in virtual time. */
@Tag("netty-4.2-only")
class StatsTest {

    private static final Duration A_WHILE = Duration.ofSeconds(5);

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();

    @AfterEach
    void close() {
        loop.close();
    }

    @Test
    void whatWaitsForEachPeerIsSummedUp() {
        ZMTPSocket router = loop.open(
                ZMTPSocketConfig.builder(ROUTER).reconnectDelay(Duration.ofMillis(10), Duration.ofMillis(10)));
        absent(router, "inproc://first").sendOrDrop(message("12"));
        loop.advance(A_WHILE);
        ZMTPPeer second = absent(router, "inproc://second");
        second.sendOrDrop(message("345"));
        second.sendOrDrop(message("6"));

        assertThat(router.stats().sent()).isEqualTo(3);
        assertThat(router.stats().queued()).isEqualTo(3);
        assertThat(router.stats().queuedBytes()).isEqualTo(6);
        assertThat(router.stats().oldestAge()).isEqualTo(A_WHILE);
        assertThat(second.stats().queued()).isEqualTo(2);
        assertThat(second.stats().oldestAge()).isZero();
    }

    /** A peer that is not there, and for which messages are queued. */
    private ZMTPPeer absent(ZMTPSocket socket, String endpoint) {
        ZMTPPeer peer = TestSockets.peerOf(socket.connect(endpoint));
        loop.run();
        return peer;
    }

    @Test
    void aSendInLineWaits() {
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH));
        push.sendAsync(message("1"));
        push.sendAsync(message("2"));
        loop.run();

        assertThat(push.stats().sent()).isEqualTo(2);
        assertThat(push.stats().queued()).isEqualTo(2);
    }

    @Test
    void whatWaitsForAnyPeerIsInTheSumAsWell() {
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH));
        push.connect("inproc://nobody");
        loop.run();
        push.sendAsync(message("12"));
        loop.advance(A_WHILE);
        push.sendAsync(message("345"));
        loop.run();

        assertThat(push.stats().sent()).isEqualTo(2);
        assertThat(push.stats().queued()).isEqualTo(2);
        assertThat(push.stats().queuedBytes()).isEqualTo(5);
        assertThat(push.stats().oldestAge()).isEqualTo(A_WHILE);
    }

    @Test
    void theOldestMessageIsThatOfThePeerThatIsTheWorst() {
        ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER));
        for (String endpoint : List.of("inproc://1", "inproc://2", "inproc://3", "inproc://4", "inproc://5")) {
            absent(router, endpoint).sendOrDrop(message("m"));
            loop.advance(Duration.ofMillis(10));
        }

        assertThat(router.stats().oldestAge()).isEqualTo(Duration.ofMillis(50));
    }

    @Test
    void aRequestThatWaitsForAPeerWaits() {
        ZMTPSocket dealer = loop.open(ZMTPSocketConfig.builder(DEALER));
        dealer.connect("inproc://nobody");
        dealer.requestAsync(message("?"), A_WHILE);
        loop.run();

        assertThat(dealer.stats().queued()).isEqualTo(1);
    }

    @Test
    void theRequestOfAReqThatHasNoPeerWaits() {
        ZMTPSocket req = loop.open(ZMTPSocketConfig.builder(REQ));
        req.sendAsync(message("?"));
        loop.run();

        assertThat(req.stats().sent()).isEqualTo(1);
        assertThat(req.stats().queued()).isEqualTo(1);
    }
}
