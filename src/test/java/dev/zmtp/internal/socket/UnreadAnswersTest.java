package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.internal.socket.TestSockets.PATIENCE;
import static dev.zmtp.internal.socket.TestSockets.await;
import static dev.zmtp.internal.socket.TestSockets.bind;
import static dev.zmtp.internal.socket.TestSockets.connect;
import static dev.zmtp.internal.socket.TestSockets.get;
import static dev.zmtp.internal.socket.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A peer that asks, and does not read the answers. */
class UnreadAnswersTest {

    private static final int REQUESTS = 2_000;
    private static final String ANSWER = "x".repeat(20_000);

    @ParameterizedTest
    @CsvSource({"REP, tcp://127.0.0.1:*", "ROUTER, tcp://127.0.0.1:*", "REP, inproc://unread", "REP, shm://*"})
    void answersWaitUntilThePeerReadsThem(ZMTPSocketType type, String endpoint) {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket service = sockets.open(sockets.builder(type).sendLimit(5, 1 << 20));
            service.serve(request -> request.reply(message(ANSWER)));
            ZMTPSocket client = sockets.open(sockets.builder(DEALER).sendLimit(REQUESTS, 1 << 20));
            ZMTPPeer peer = connect(client, bind(service, endpoint));
            peer.pause();

            List<CompletableFuture<ZMTPMessage>> answers = new ArrayList<>();
            for (int i = 0; i < REQUESTS; i++) {
                answers.add(client.requestAsync(message("question"), PATIENCE));
            }
            await(
                    "a full queue",
                    () -> service.peers().stream().anyMatch(p -> p.stats().queued() >= 5));
            peer.resume();

            answers.forEach(answer -> get(answer).release());
            assertThat(service.stats().dropped()).isZero();
        }
    }
}
