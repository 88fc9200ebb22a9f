package dev.zmtp.internal.socket.peer;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.test.ZMTPTestPeer;
import dev.zmtp.testing.Blocking;
import dev.zmtp.testing.TestSockets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A peer that asks, and does not read the answers. */
class UnreadAnswersTest {

    private static final int REQUESTS = 2_000;
    private static final String ANSWER = "x".repeat(20_000);

    @ParameterizedTest
    @CsvSource({"REP, tcp://127.0.0.1:*", "ROUTER, tcp://127.0.0.1:*", "REP, inproc://unread", "REP, shm://*"})
    void answersWaitUntilThePeerReadsThem(ZMTPSocketType type, String endpoint, TestSockets sockets) {
        ZMTPSocket service = sockets.open(sockets.builder(type).sendQueueLimit(5, 1 << 20));
        service.serve(request -> request.reply(message(ANSWER)));
        ZMTPSocket client = sockets.open(sockets.builder(DEALER).sendQueueLimit(REQUESTS, 1 << 20));
        ZMTPPeer peer = connect(client, bind(service, endpoint));
        peer.pauseReading();

        List<CompletableFuture<ZMTPMessage>> answers = new ArrayList<>();
        for (int i = 0; i < REQUESTS; i++) {
            answers.add(client.requestAsync(message("question"), PATIENCE));
        }
        await(
                "a full queue",
                () -> service.peers().stream().anyMatch(p -> p.stats().queued() >= 5));
        peer.resumeReading();

        answers.forEach(answer -> get(answer).release());
        assertThat(service.stats().dropped()).isZero();
    }

    /** A place that another thread has reserved is no answer that the peer does not read. */
    @Test
    void aPeerIsReadFromAgainWhenWhatWasOnItsWayHasLeft(TestSockets sockets) {
        ZMTPSocket service = sockets.open(sockets.builder(ROUTER).sendQueueLimit(1, 1 << 20));
        service.serve(request -> {
            try {
                Blocking.allow(() -> assertThat(CompletableFuture.supplyAsync(
                                        () -> request.peer().trySend(message("pushed")),
                                        task -> new Thread(task).start())
                                .join())
                        .isTrue());
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            request.reply(message(ANSWER));
        });
        ZMTPSocket client = sockets.open(DEALER);
        connect(client, bind(service, "tcp://127.0.0.1:*"));

        for (int i = 0; i < 2; i++) {
            get(client.requestAsync(message("question"), PATIENCE)).release();
            assertThat(TestSockets.receive(client)).containsExactly("pushed");
        }
    }

    /** It cannot read before it is read from, as it waits until its requests have left. */
    @Test
    @Tag("netty-4.2-only")
    void aPeerIsReadFromAgainWhenMoreAnswersMayWait() {
        int[] served = {0};
        try (ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            ZMTPSocket service = loop.open(ZMTPSocketConfig.builder(ROUTER).sendQueueLimit(5, 1 << 20));
            service.serve(request -> {
                served[0]++;
                request.reply(message(ANSWER));
            });
            service.bind("test://service");
            ZMTPTestPeer client = ZMTPTestPeer.connect(loop, "test://service", DEALER);
            client.stopReading();
            for (int i = 0; i < 100; i++) {
                client.send("", "question");
            }
            assertThat(served[0]).isLessThan(50);

            service.resizeSendQueue(1_000, 1 << 30);
            loop.run();

            assertThat(served[0]).isEqualTo(100);
        }
    }

    /** Only answers keep a socket from reading. */
    @Test
    @Tag("netty-4.2-only")
    void aPeerWithAFullQueueIsReadAfterTheLimitIsSet() {
        try (ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER).sendQueueLimit(5, 1 << 20));
            router.onMessage((peer, message) -> message.release());
            router.bind("test://router");
            ZMTPTestPeer peer = ZMTPTestPeer.connect(loop, "test://router", DEALER);
            peer.stopReading();
            ZMTPPeer its = TestSockets.peer(router);
            while (its.isWritable()) {
                its.sendOrDrop(message(ANSWER));
                loop.run();
            }

            router.resizeSendQueue(5, 1 << 20);
            loop.run();
            peer.send("question");

            assertThat(router.stats().received()).isEqualTo(1);
        }
    }
}
