package dev.zmtp.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class LookupTest {

    private static final Duration SOON = Duration.ofMillis(1);
    private static final Duration LONG = Duration.ofSeconds(40);
    private final RejectedExecutionException refusal = new RejectedExecutionException("of the test");

    /** What the threads are doing. Each ends it when the test runs it. */
    private final Queue<Runnable> running = new ArrayDeque<>();

    private final List<Throwable> refused = new ArrayList<>();
    private final List<String> answered = new ArrayList<>();
    private long now;
    private boolean refuses;
    private final Lookup lookup = new Lookup(this::execute, () -> now);

    private void execute(Runnable task) {
        if (refuses) { // as a system that has no thread left
            throw refusal;
        }
        running.add(task);
    }

    private Lookup.Question question(Object socket, String name) {
        return new Lookup.Question(socket, name, refused::add);
    }

    private void ask(Lookup.Question question, String name, Duration takes) {
        lookup.ask(question, () -> {
            now += takes.toNanos();
            answered.add(name);
        });
    }

    private void ask(Object socket, String name) {
        ask(question(socket, name), name, SOON);
    }

    private void askForMany(Object socket, int names) {
        for (int i = 0; i < names; i++) {
            ask(socket, "n" + i + "." + socket);
        }
    }

    /** Ends all lookups, also those that begin meanwhile. */
    private void answerAll() {
        while (!running.isEmpty()) {
            running.remove().run();
        }
    }

    @Test
    void theThreadsKeepNoProgramAliveAndEndWhenTheyAreIdle() throws InterruptedException {
        Thread thread = TestSockets.get(CompletableFuture.supplyAsync(Thread::currentThread, Lookup.SHARED));

        assertThat(thread.isDaemon()).isTrue();
        thread.join(TestSockets.PATIENCE.toMillis());
        assertThat(thread.isAlive()).isFalse();
    }

    @Test
    void aNameThatNobodyAnswersKeepsNoOtherWaiting() {
        CompletableFuture<Void> silent = new CompletableFuture<>();
        Lookup.SHARED.ask(question(this, "silent.test"), silent::join);
        CompletableFuture<Void> other = new CompletableFuture<>();

        Lookup.SHARED.ask(question(this, "other.test"), () -> other.complete(null));

        TestSockets.get(other);
        silent.complete(null);
    }

    @Test
    void thereAreNoMoreThanEightThreadsAndTheRestWaits() {
        for (int socket = 0; socket < 20; socket++) {
            ask("socket" + socket, "name" + socket);
        }

        assertThat(running).hasSize(Lookup.THREADS);
        answerAll();
        assertThat(answered).hasSize(20);
    }

    @Test
    void theManyNamesOfASocketLeaveThreadsToOthers() {
        askForMany("greedy", 100);
        assertThat(running).hasSize(4);

        ask("other", "another");

        assertThat(running).hasSize(5);
        running.clear(); // the first ones are never answered
    }

    @Test
    void theThreadOfOneThatHasEndedIsGivenToTheNextThatMayHaveIt() {
        askForMany("greedy", 5);
        askForMany("second", 3);
        askForMany("third", 2);
        assertThat(running).hasSize(4 + 2 + 1);

        answerAll();

        assertThat(answered).hasSize(10);
    }

    @Test
    void aNameIsAskedForOnceAtATimeHoweverManySocketsWantIt() {
        for (int socket = 0; socket < 3; socket++) {
            ask("socket" + socket, "same");
        }
        assertThat(running).hasSize(1);

        running.remove().run();

        assertThat(running).hasSize(1); // the system knows the answer by now
        answerAll();
        assertThat(answered).hasSize(3);
    }

    @Test
    void namesThatTookLongLeaveHalfOfTheThreadsToOthers() {
        List<Lookup.Question> silent = new ArrayList<>();
        for (int socket = 0; socket < 8; socket++) {
            silent.add(question("socket" + socket, "silent" + socket));
        }
        silent.forEach(question -> ask(question, "silent", LONG));
        assertThat(running).hasSize(8);
        answerAll();

        silent.forEach(question -> ask(question, "again", LONG));

        assertThat(running).hasSize(4);
        ask("other", "another");
        assertThat(running).hasSize(5);
    }

    @Test
    void aNameThatIsAnsweredSoonAgainWaitsForNoneThatIsNot() {
        List<Lookup.Question> mended = new ArrayList<>();
        for (int socket = 0; socket < 8; socket++) {
            mended.add(question("socket" + socket, "name" + socket));
        }
        mended.forEach(question -> ask(question, "silent", LONG));
        answerAll();
        mended.forEach(question -> ask(question, "mended", SOON));
        answerAll();

        mended.forEach(question -> ask(question, "again", SOON));

        assertThat(running).hasSize(8);
    }

    @Test
    void aLookupThatGetsNoThreadTakesNobodysPlace() {
        refuses = true;
        for (int i = 0; i < 20; i++) {
            lookup.ask(question(this, "name"), () -> {});
        }
        assertThat(refused).hasSize(20).containsOnly(refusal);
        refuses = false;

        lookup.ask(question(this, "name"), () -> answered.add("name"));

        answerAll();
        assertThat(answered).containsExactly("name");
    }

    /** The one that ends has its thread, and gives it to several, none of which gets another. */
    @Test
    void thoseThatWaitAreRefusedTooIfThereIsNoThread() {
        for (int i = 0; i < 3; i++) {
            lookup.ask(question("socket " + i, "name"), () -> answered.add("name"));
        }
        refuses = true;

        answerAll();

        assertThat(answered).containsExactly("name");
        assertThat(refused).containsExactly(refusal, refusal);
    }

    @Test
    void aQuestionThatHasEndedIsNotAsked() {
        Lookup.Question first = question("one", "name");
        Lookup.Question second = question("other", "name");
        ask(first, "first", SOON);
        ask(second, "second", SOON);
        ask("third", "name");
        first.end();
        second.end();

        answerAll();

        assertThat(answered).containsExactly("name");
    }

    @Test
    void aLookupThatThrowsGivesItsThreadBack() {
        IllegalStateException thrown = new IllegalStateException("of the test");
        lookup.ask(question(this, "name"), () -> {
            throw thrown;
        });
        ask(this, "name");

        assertThatThrownBy(running.remove()::run).isSameAs(thrown);

        answerAll();
        assertThat(answered).containsExactly("name");
    }
}
