package dev.zmtp.internal.socket.context;

import dev.zmtp.socket.ZMTPSocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The current number of peers or subscribers, and the futures that wait for a higher number. Used on the event loop.
 */
public final class Awaited {

    private record Waiter(int count, CompletableFuture<Void> reached) {}

    private final Completions completions;
    private final Count there = new Count();
    private final List<Waiter> waiters = new ArrayList<>(0);
    private boolean closed;

    public Awaited(Completions completions) {
        this.completions = completions;
    }

    /** Returns the current number. From any thread. */
    public int there() {
        return (int) there.get();
    }

    /** Completes the future when the number is at least {@code count}. */
    public void await(int count, CompletableFuture<Void> reached) {
        if (closed) { // after the call
            fail(reached);
            return;
        }
        waiters.add(new Waiter(count, reached));
        announce();
    }

    /** Called when peers or subscribers have been added or removed. */
    public void changed(int now) {
        count(now);
        announce();
    }

    /** Sets the current number. {@link #announce} completes the futures. */
    public void count(int now) {
        there.set(now);
    }

    /**
     * Completes the futures whose count has been reached. This can run user code, which can call {@link #await} again.
     */
    public void announce() {
        if (waiters.isEmpty()) {
            return;
        }
        List<Waiter> reached = new ArrayList<>();
        waiters.removeIf(waiter -> (waiter.reached.isDone() || there() >= waiter.count) && reached.add(waiter));
        reached.forEach(waiter -> completions.succeed(waiter.reached));
    }

    /** Fails the futures, because the socket is closed. */
    public void close() {
        closed = true;
        List<Waiter> all = List.copyOf(waiters);
        waiters.clear();
        all.forEach(waiter -> fail(waiter.reached));
    }

    private void fail(CompletableFuture<Void> reached) {
        completions.fail(reached, ZMTPSocketException.Reason.CLOSED, "the socket is closed");
    }
}
