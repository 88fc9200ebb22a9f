package dev.zmtp.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.socket.TestSockets.PATIENCE;
import static dev.zmtp.socket.TestSockets.await;
import static dev.zmtp.socket.TestSockets.message;
import static dev.zmtp.socket.TestSockets.reason;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests for a peer that is away, with a queue that drops: the limit is for them as well. */
class RequestLimitsTest {

    @ParameterizedTest
    @CsvSource({"DROP_NEW, 2, 2", "DISCONNECT, 2, 2", "DROP_OLD, 2, 0", "KEEP_LATEST, 1, 0"})
    void requestsBeyondTheLimitAreDropped(ZMTPSlowPeer policy, int kept, int lost) {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket dealer =
                    sockets.open(sockets.builder(DEALER).slowPeer(policy).sendLimit(ZMTPQueueLimit.ofMessages(2)));
            ZMTPPeer peer = TestSockets.peerOf(dealer.connect("inproc://away"));
            List<CompletableFuture<ZMTPMessage>> answers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                answers.add(dealer.requestAsync(message("m" + i), PATIENCE));
            }

            assertThat(reason(answers.get(lost))).isEqualTo(FULL);
            await("all others dropped", () -> peer.stats().dropped() == 3 - kept);
            await("the rest in the queue", () -> peer.stats().queued() == kept);
        }
    }
}
