package dev.zmtp.demo;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** What handlers saw on their event loops, for the demo's own thread to wait for. Thread safe. */
final class Notes {

    private final BlockingQueue<Object> queue = new LinkedBlockingQueue<>();
    private volatile Throwable lastLeft;

    void add(String seen) {
        queue.add(seen);
    }

    void add(Throwable failure) {
        queue.add(failure);
    }

    /** A peer has left, for {@code cause}. That is not a failure if what is awaited comes from another connection. */
    void left(Throwable cause) {
        lastLeft = cause;
    }

    /** The next event; {@code what} describes what it should be. */
    String take(String what, Duration deadline) throws DemoException, InterruptedException {
        Object taken = queue.poll(deadline.toNanos(), TimeUnit.NANOSECONDS);
        if (taken == null) {
            throw new DemoException("no " + what + " (expected: within " + deadline.toMillis() + " ms)"
                    + (lastLeft == null ? "" : "; a peer left: " + lastLeft.getMessage()));
        }
        if (taken instanceof Throwable failure) {
            throw new DemoException("no " + what + ": " + failure.getMessage());
        }
        return (String) taken;
    }

    /** Lets time pass in which nothing should be seen. */
    void expectNone(long nanos) throws DemoException, InterruptedException {
        Object taken = queue.poll(nanos, TimeUnit.NANOSECONDS);
        if (taken != null) {
            throw new DemoException("unexpected: " + taken);
        }
    }
}
