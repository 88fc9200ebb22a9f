package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.PUSH;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.socket.ZMTPSocketException.Reason;
import dev.zmtp.socket.ZMTPStats;
import dev.zmtp.testing.JavaProcess;
import dev.zmtp.testing.TestSockets;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two workers of {@link AccountedJobs} are killed, and a third one does the rest. */
@Timeout(120)
class AccountedJobsIT {

    private static final int JOBS = 10_000;
    private static final List<String> OPTIONS = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    private final TestSockets sockets = new TestSockets();
    private final ZMTPSocket push = sockets.open(PUSH);
    private final String endpoint = TestSockets.bind(push, "tcp://127.0.0.1:*");

    @AfterEach
    void close() {
        sockets.close();
    }

    private JavaProcess worker() throws IOException {
        return new JavaProcess(JavaProcess.command(OPTIONS, AccountedJobs.class, endpoint));
    }

    private static List<Integer> some(JavaProcess worker) throws InterruptedException {
        List<Integer> done = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            done.add(Integer.valueOf(worker.line()));
        }
        return done;
    }

    private static void kill(JavaProcess worker, List<Integer> done) throws InterruptedException {
        worker.kill();
        worker.rest().forEach(job -> done.add(Integer.valueOf(job)));
    }

    /** What a worker has done that was killed while it worked. */
    private List<Integer> doneAtWork() throws IOException, InterruptedException {
        try (JavaProcess worker = worker()) {
            List<Integer> done = some(worker);
            kill(worker, done);
            return done;
        }
    }

    /** What a worker has done that was killed when it had read nothing for a while. */
    private List<Integer> doneBeforeItHung() throws IOException, InterruptedException {
        try (JavaProcess worker = worker()) {
            List<Integer> done = some(worker);
            new ProcessBuilder("kill", "-STOP", Long.toString(worker.pid()))
                    .start()
                    .waitFor();
            assertThat(worker.endsWithin(Duration.ofMillis(500))).isFalse(); // until the kernel takes no more
            kill(worker, done);
            return done;
        }
    }

    private List<Integer> doneToTheEnd() throws IOException, InterruptedException {
        try (JavaProcess worker = worker()) {
            List<Integer> done = some(worker);
            while (done.get(done.size() - 1) < JOBS - 1) {
                done.add(Integer.valueOf(worker.line()));
            }
            return done;
        }
    }

    private Map<Integer, Throwable> push() {
        try {
            return AccountedJobs.push(push, JOBS);
        } catch (InterruptedException e) {
            throw new CompletionException(e);
        }
    }

    @Test
    void eachJobIsDoneOrAccountedForWhenItsWorkerIsKilled() throws Exception {
        CompletableFuture<Map<Integer, Throwable>> pushed = CompletableFuture.supplyAsync(this::push);

        List<List<Integer>> workers = List.of(doneAtWork(), doneBeforeItHung(), doneToTheEnd());

        Map<Integer, Throwable> failures = TestSockets.get(pushed);
        assertThat(failures.values())
                .isNotEmpty()
                .allMatch(failure -> failure instanceof ZMTPSocketException e && e.reason() == Reason.OUTCOME_UNKNOWN);
        ZMTPStats account = push.stats();
        assertThat(account.sent()).isEqualTo(JOBS);
        assertThat(account.written()).isEqualTo(JOBS - failures.size());
        assertThat(account.outcomeUnknown()).isEqualTo(failures.size());
        assertThat(account.dropped() + account.queued()).isZero();
        assertThatTheRestWasOnItsWay(workers, failures.keySet());
    }

    /**
     * The last jobs that a killed worker was sent are not done: some were written, and those after them are unknown.
     */
    private static void assertThatTheRestWasOnItsWay(List<List<Integer>> workers, Set<Integer> unknown) {
        Set<Integer> missing = jobs(0, JOBS);
        for (List<Integer> done : workers) {
            assertThat(done).containsExactlyElementsOf(jobs(done.get(0), done.get(done.size() - 1) + 1));
            assertThat(missing).as("jobs that nobody has done before").containsAll(done);
            missing.removeAll(done);
        }
        assertThat(missing).containsAll(unknown);
        assertThat(missing).filteredOn(job -> unknown.contains(job - 1)).allMatch(unknown::contains);
    }

    private static Set<Integer> jobs(int from, int to) {
        return IntStream.range(from, to).boxed().collect(Collectors.toCollection(TreeSet::new));
    }
}
