package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Semaphore;

/** A PUSH that knows what became of each job, and a PULL that may be killed at any time. */
public final class AccountedJobs {

    private static final String DATA = "x".repeat(10_000);

    /** Half of what may wait in line: a place there is free again a moment after the future is complete. */
    private static final int WINDOW = 32;

    private AccountedJobs() {}

    /** Pushes 10,000 jobs from port 5555, or does those of the endpoint that is given. */
    public static void main(String... args) throws InterruptedException {
        if (args.length > 0) {
            work(args[0]);
            return;
        }
        System.out.println("PUSH socket on 127.0.0.1:5555, with 10,000 jobs. Run beside it, kill, and run again:"
                + " mvn -q test-compile exec:java@example -Dexample=AccountedJobs -Dexec.args=tcp://127.0.0.1:5555");
        try (ZMTPSocket push = ZMTPSocket.of(PUSH)) {
            push.bind("tcp://127.0.0.1:5555").sync();
            push(push, 10_000).forEach((job, failure) -> System.out.println(job + ": " + failure.getMessage()));
            System.out.println(push.stats());
        }
    }

    /** Returns the jobs that were not written, and why. Not for use on an event loop. */
    static Map<Integer, Throwable> push(ZMTPSocket push, int jobs) throws InterruptedException {
        Map<Integer, Throwable> failures = new ConcurrentSkipListMap<>();
        Semaphore window = new Semaphore(WINDOW);
        for (int i = 0; i < jobs; i++) {
            int job = i;
            window.acquire();
            push.sendAsync(ZMTPMessage.fromUTF8("" + job, DATA)).whenComplete((written, failure) -> {
                if (failure != null) {
                    failures.put(job, failure);
                }
                window.release();
            });
        }
        window.acquire(WINDOW);
        return failures;
    }

    private static void work(String endpoint) throws InterruptedException {
        try (ZMTPSocket pull = ZMTPSocket.of(ZMTPSocketConfig.builder(PULL)
                .receiveQueueLimit(16, 1 << 20) // which it takes with it if it is killed
                .build())) {
            pull.connect(endpoint);
            while (true) {
                ZMTPMessage job = pull.receive();
                System.out.println(job.frameUTF8(0));
                job.release();
            }
        }
    }
}
