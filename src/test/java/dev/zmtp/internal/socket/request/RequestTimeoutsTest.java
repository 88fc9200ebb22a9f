package dev.zmtp.internal.socket.request;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.failure;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.Turns;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When requests time out, in virtual time: those of one timeout share a timer. */
@Tag("netty-4.2-only")
class RequestTimeoutsTest {

    private static final int TIMEOUT = 100;

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final List<CompletableFuture<ZMTPMessage>> asked = new ArrayList<>();
    private ZMTPSocket dealer;

    @BeforeEach
    void connect() {
        ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER));
        router.serve(TestSockets.answering(request -> {
            CompletableFuture<ZMTPMessage> answer = new CompletableFuture<>();
            asked.add(answer);
            return answer;
        }));
        router.bind("inproc://service");
        dealer = loop.open(ZMTPSocketConfig.builder(DEALER));
        dealer.connect("inproc://service");
        loop.run();
    }

    @AfterEach
    void end() {
        asked.forEach(answer -> answer.cancel(false)); // whose requests are released then
        loop.close();
    }

    @Test
    void eachTimesOutWhenItsOwnTimeIsOver() {
        CompletableFuture<ZMTPMessage> first = ask(TIMEOUT);
        pass(40);
        CompletableFuture<ZMTPMessage> second = ask(TIMEOUT);

        pass(59);
        assertThat(first).isNotDone();
        pass(1);
        assertThat(reason(first)).isEqualTo(ZMTPSocketException.Reason.TIMEOUT);
        pass(39);
        assertThat(second).isNotDone();
        pass(1);
        assertThat(reason(second)).isEqualTo(ZMTPSocketException.Reason.TIMEOUT);
    }

    @Test
    void anAnswerLeavesTheOthersTheirTime() {
        CompletableFuture<ZMTPMessage> first = ask(TIMEOUT);
        pass(10);
        CompletableFuture<ZMTPMessage> second = ask(TIMEOUT);
        pass(10);
        CompletableFuture<ZMTPMessage> third = ask(TIMEOUT);

        asked.get(1).complete(message("yes"));
        loop.run();

        assertThat(frames(second.join())).containsExactly("yes");
        pass(80);
        assertThat(reason(first)).isEqualTo(ZMTPSocketException.Reason.TIMEOUT);
        pass(19);
        assertThat(third).isNotDone();
        pass(1);
        assertThat(reason(third)).isEqualTo(ZMTPSocketException.Reason.TIMEOUT);
    }

    @Test
    void aRequestAfterAnAnsweredOneHasAllOfItsTime() {
        CompletableFuture<ZMTPMessage> first = ask(TIMEOUT);
        asked.get(0).complete(message("yes"));
        loop.run();
        assertThat(frames(first.join())).containsExactly("yes");
        pass(60);
        CompletableFuture<ZMTPMessage> second = ask(TIMEOUT);

        pass(99);
        assertThat(second).isNotDone();
        pass(1);
        assertThat(reason(second)).isEqualTo(ZMTPSocketException.Reason.TIMEOUT);
    }

    @Test
    void aRequestThatTimesOutMayBeAskedAgainAtOnce() {
        List<CompletableFuture<ZMTPMessage>> again = new ArrayList<>();
        ask(TIMEOUT).whenComplete((answer, failure) -> again.add(ask(TIMEOUT)));

        pass(TIMEOUT);
        assertThat(again).singleElement().satisfies(second -> assertThat(second).isNotDone());
        pass(TIMEOUT - 1);
        assertThat(again.get(0)).isNotDone();
        pass(1);
        assertThat(reason(again.get(0))).isEqualTo(ZMTPSocketException.Reason.TIMEOUT);
    }

    @Test
    void aRequestThatNoPeerHadRoomForSaysSo() {
        ZMTPSocket req = loop.open(ZMTPSocketConfig.builder(REQ));
        req.connect("inproc://service");
        loop.run();
        req.requestAsync(message("keeps it busy"), Duration.ofHours(1));
        CompletableFuture<ZMTPMessage> second = req.requestAsync(message("?"), Duration.ofMillis(TIMEOUT));

        pass(TIMEOUT);

        assertThat(failure(second)).hasMessage("TIMEOUT: no answer within PT0.1S: no peer had room for the request");
    }

    @Test
    void anyNumberOfTimeoutsAreKept() {
        List<CompletableFuture<ZMTPMessage>> all = new ArrayList<>();
        for (int i = 1; i <= 40; i++) {
            all.add(ask(i));
            asked.get(i - 1).complete(message("yes")); // and its timer is not needed
            loop.run();
            frames(all.get(i - 1).join());
        }
        all.clear();
        for (int i = 40; i >= 1; i--) {
            all.add(ask(i));
        }

        for (int passed = 1; passed <= 40; passed++) {
            pass(1);
            assertThat(all.stream().filter(CompletableFuture::isDone)).hasSize(passed);
        }
    }

    @Test
    void oneThatIsAskedAfterTheNewestWasAnsweredHasItsTime() {
        CompletableFuture<ZMTPMessage> first = ask(TIMEOUT);
        CompletableFuture<ZMTPMessage> second = ask(TIMEOUT);
        asked.get(1).complete(message("yes"));
        loop.run();
        assertThat(frames(second.join())).containsExactly("yes");
        pass(10);
        CompletableFuture<ZMTPMessage> third = ask(TIMEOUT);

        pass(90);
        assertThat(reason(first)).isEqualTo(ZMTPSocketException.Reason.TIMEOUT);
        assertThat(third).isNotDone();
        pass(10);
        assertThat(reason(third)).isEqualTo(ZMTPSocketException.Reason.TIMEOUT);
    }

    @Test
    void thoseThatAreAskedAtOnceTimeOutAtOnce() {
        List<CompletableFuture<ZMTPMessage>> all = List.of(ask(TIMEOUT), ask(TIMEOUT), ask(TIMEOUT));

        pass(TIMEOUT);

        assertThat(all).allSatisfy(one -> assertThat(reason(one)).isEqualTo(ZMTPSocketException.Reason.TIMEOUT));
    }

    @Test
    void oneWithoutATimeoutWaitsOn() {
        CompletableFuture<ZMTPMessage> endless = dealer.requestAsync(message("?"), Duration.ofSeconds(Long.MAX_VALUE));
        loop.run();

        assertThat(loop.advance(Duration.ofSeconds(1))).as("tasks").isZero();

        assertThat(endless).isNotDone();
    }

    /** A timer that is there need not be created again; that of each timeout there ever was would be too much. */
    @Test
    void aFewTimersAreKeptThatNoRequestNeeds() {
        for (int i = 1; i <= 40; i++) {
            CompletableFuture<ZMTPMessage> answer = ask(i);
            asked.get(i - 1).complete(message("yes"));
            loop.run();
            frames(answer.join());
        }

        assertThat(loop.advance(Duration.ofMillis(40))).as("tasks").isEqualTo(8);
        assertThat(loop.advance(Duration.ofMillis(40))).as("tasks").isZero();
    }

    @Test
    void noTimerOutlivesTheSocket() {
        CompletableFuture<ZMTPMessage> first = ask(TIMEOUT);
        CompletableFuture<ZMTPMessage> second = ask(3 * TIMEOUT);

        dealer.closeAsync(Duration.ZERO);
        pass(50);

        assertThat(reason(first)).isEqualTo(ZMTPSocketException.Reason.CLOSED);
        assertThat(reason(second)).isEqualTo(ZMTPSocketException.Reason.CLOSED);
        assertThat(loop.advance(Duration.ofMillis(3 * TIMEOUT))).as("tasks").isZero();
    }

    private CompletableFuture<ZMTPMessage> ask(int timeoutMillis) {
        CompletableFuture<ZMTPMessage> answer = dealer.requestAsync(message("?"), Duration.ofMillis(timeoutMillis));
        loop.run();
        return answer;
    }

    private void pass(int millis) {
        loop.advance(Duration.ofMillis(millis));
    }

    @Test
    void manyThatTimeOutTogetherFailInSeveralTasks() {
        int[] failed = {0};
        Turns turns = Turns.of(loop.eventLoop(), () -> failed[0]);
        loop.run();
        loop.eventLoop().schedule(turns::again, TIMEOUT, TimeUnit.MILLISECONDS);
        for (int i = 0; i < 3_000; i++) {
            dealer.requestAsync(message("?"), Duration.ofMillis(TIMEOUT))
                    .whenComplete((answer, failure) -> failed[0]++);
        }
        loop.run();
        loop.advance(Duration.ofMillis(TIMEOUT - 1));
        assertThat(failed[0]).isZero();

        loop.advance(Duration.ofMillis(1));

        assertThat(failed[0]).isEqualTo(3_000);
        assertThat(turns.most()).isPositive().isLessThanOrEqualTo(LoopBudget.MESSAGES);
    }
}
