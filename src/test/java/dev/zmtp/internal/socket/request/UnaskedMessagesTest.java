package dev.zmtp.internal.socket.request;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.CapturedLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.logging.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a service sends to a DEALER that has not asked for it. */
@Tag("netty-4.2-only")
class UnaskedMessagesTest {

    private static final String ENDPOINT = "inproc://unasked";
    private static final int LIMIT = 10;
    private static final int MANY = 5_000;

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final ZMTPSocket service = loop.open(ZMTPSocketConfig.builder(ROUTER));
    private final ZMTPSocket dealer = loop.open(ZMTPSocketConfig.builder(DEALER).receiveQueueLimit(LIMIT, 1 << 20));
    private final CapturedLog log = new CapturedLog("dev.zmtp.socket.Drops");

    @BeforeEach
    void connect() {
        service.serve(request -> request.reply(message("answer")));
        service.bind(ENDPOINT);
        dealer.connect(ENDPOINT);
        loop.run();
    }

    @AfterEach
    void close() {
        loop.close();
        log.close();
    }

    private void send(int messages) {
        for (int i = 0; i < messages; i++) {
            service.peers().iterator().next().sendOrDrop(message("news " + i));
            loop.run();
        }
    }

    private List<String> ask() {
        CompletableFuture<ZMTPMessage> answer = dealer.requestAsync(message("question"), PATIENCE);
        loop.run();
        assertThat(answer).isCompleted();
        return frames(answer.join());
    }

    private long received(int messages) {
        return messages - service.stats().queued() - service.stats().dropped();
    }

    @Test
    void itStandsInTheWayOfNoAnswer() {
        ask();

        send(MANY);

        assertThat(ask()).containsExactly("answer");
        assertThat(received(MANY)).isEqualTo(MANY);
        assertThat(dealer.stats().discarded()).isBetween((long) MANY - LIMIT, (long) MANY - LIMIT / 2);
    }

    @Test
    void itStandsInTheWayOfNoAnswerIfItCameBeforeTheFirstQuestion() {
        send(LIMIT);

        assertThat(ask()).containsExactly("answer");
    }

    @Test
    void theNewestIsKeptForOneThatReceivesAfterAll() {
        ask();
        send(MANY);

        CompletableFuture<ZMTPMessage> oldest = dealer.receiveAsync();
        loop.run();

        assertThat(frames(oldest.join()).get(0)).isGreaterThanOrEqualTo("news " + (MANY - LIMIT));
    }

    @Test
    void itIsReportedWithItsNumber() {
        List<ZMTPSocketEvent.Dropped> reported = new ArrayList<>();
        dealer.onEvent(Runnable::run, event -> {
            if (event instanceof ZMTPSocketEvent.Dropped dropped) {
                reported.add(dropped);
            }
        });
        ask();

        send(MANY);
        loop.advance(Duration.ofSeconds(2));

        assertThat(reported).hasSize(2).allSatisfy(dropped -> {
            assertThat(dropped.reason()).isEqualTo(DropReason.UNSOLICITED);
            assertThat(dropped.peer()).isSameAs(dealer.peers().iterator().next());
        });
        assertThat(reported.stream()
                        .mapToLong(ZMTPSocketEvent.Dropped::messages)
                        .sum())
                .isEqualTo(dealer.stats().discarded());
        assertThat(log.lines).isEmpty();
    }

    @Test
    void aProgramWithoutAListenerHasItInTheLog() {
        ask();

        send(MANY);

        assertThat(log.records).singleElement().satisfies(line -> {
            assertThat(line.getLevel()).isEqualTo(Level.WARNING);
            assertThat(line.getMessage())
                    .contains(ENDPOINT)
                    .contains(" messages: nobody had asked for them, and nobody receives");
        });
    }

    @Test
    void oneThatReceivesAtItsOwnPaceLosesNone() {
        CompletableFuture<ZMTPMessage> first = dealer.receiveAsync();
        ask();

        send(MANY);

        assertThat(frames(first.join())).containsExactly("news 0");
        assertThat(dealer.stats().discarded()).isZero();
        for (int i = 1; i < LIMIT; i++) {
            CompletableFuture<ZMTPMessage> next = dealer.receiveAsync();
            loop.run();
            assertThat(frames(next.join())).containsExactly("news " + i);
        }
    }

    @Test
    void oneThatDoesNotAskAndReceivesLaterLosesNone() {
        send(2 * LIMIT);

        for (int i = 0; i < 2 * LIMIT; i++) {
            CompletableFuture<ZMTPMessage> next = dealer.receiveAsync();
            loop.run();
            assertThat(frames(next.join())).containsExactly("news " + i);
        }
    }
}
