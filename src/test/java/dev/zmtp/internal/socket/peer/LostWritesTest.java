package dev.zmtp.internal.socket.peer;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.test.ZMTPTestPeer;
import dev.zmtp.testing.Hex;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Messages that the codec has and the transport has not when the peer breaks the rules. */
@Tag("netty-4.2-only")
class LostWritesTest {

    private static final String ENDPOINT = "test://lost";

    /** A message of one byte, and a frame whose flags no version knows. */
    private static final String MESSAGE_AND_FAULT = "00 01 71" + "7c 00";

    @Test
    void theirFuturesSayThatThePeerIsGone() {
        try (ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            List<CompletableFuture<Void>> sends = new ArrayList<>();
            ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER));
            router.onMessage((from, message) -> {
                message.release();
                sends.add(from.sendAsync(message("answer")));
            });
            router.bind(ENDPOINT);
            ZMTPTestPeer peer = ZMTPTestPeer.connect(loop, ENDPOINT, DEALER);
            loop.run();

            peer.raw(Hex.bytes(MESSAGE_AND_FAULT));
            loop.run();

            assertThat(sends)
                    .hasSize(1)
                    .allSatisfy(send -> assertThat(reason(send)).isEqualTo(PEER_DOWN));
            assertThat(router.stats().dropped()).isOne();
        }
    }

    /** The connection is about to end, and the other peer is there. */
    @Test
    void whoSendsAgainWhenItFailsReachesAnotherPeer() {
        try (ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            ZMTPSocket dealer = loop.open(ZMTPSocketConfig.builder(DEALER));
            List<CompletableFuture<Void>> again = new ArrayList<>();
            dealer.onMessage((from, message) -> {
                message.release();
                for (int i = 0; i < 2; i++) { // one to each peer, so that the next is for the first
                    dealer.sendAsync(message("first")).whenComplete((done, failure) -> {
                        if (failure != null) {
                            again.add(dealer.sendAsync(message("again")));
                        }
                    });
                }
            });
            dealer.bind(ENDPOINT);
            ZMTPTestPeer faulty = ZMTPTestPeer.connect(loop, ENDPOINT, ROUTER);
            ZMTPTestPeer other = ZMTPTestPeer.connect(loop, ENDPOINT, ROUTER);
            loop.run();

            faulty.raw(Hex.bytes(MESSAGE_AND_FAULT));
            loop.run();

            assertThat(again).hasSize(1).allSatisfy(send -> assertThat(send).isCompleted());
            assertThat(other.receive()).containsExactly("first");
            assertThat(other.receive()).containsExactly("again");
        }
    }

    @Test
    void theyFailBeforeThePeerIsDown() {
        int messages = 1_500; // more than a task tells
        try (ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            List<String> told = new ArrayList<>();
            ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER));
            router.onEvent(Runnable::run, event -> {
                if (event instanceof ZMTPSocketEvent.PeerDown) {
                    told.add("down");
                }
            });
            router.onMessage((from, message) -> {
                message.release();
                for (int i = 0; i < messages; i++) {
                    from.sendAsync(message("x"))
                            .whenComplete((done, failure) -> told.add(failure == null ? "sent" : "failed"));
                }
            });
            router.bind(ENDPOINT);
            ZMTPTestPeer peer = ZMTPTestPeer.connect(loop, ENDPOINT, DEALER);
            loop.run();

            peer.raw(Hex.bytes(MESSAGE_AND_FAULT));
            loop.run();

            assertThat(told).contains("failed", "down");
            assertThat(told.lastIndexOf("failed")).isLessThan(told.indexOf("down"));
        }
    }
}
