package dev.zmtp.internal.socket.context;

import dev.zmtp.socket.ZMTPSocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The number of peers or subscribers that are there, and the futures that wait for more. On the event loop. */
public final class Awaited {

    private record Waiter(int count, CompletableFuture<Void> reached) {}

    private final Completions completions;
    private final Count there = new Count();
    private final List<Waiter> waiters = new ArrayList<>(0);
    private @Nullable ZMTPSocketException closed;

    public Awaited(Completions completions) {
        this.completions = completions;
    }

    /** Returns how many are there. From any thread. */
    public int there() {
        return (int) there.get();
    }

    /** Completes the future when at least {@code count} are there. */
    public void await(int count, CompletableFuture<Void> reached) {
        if (closed != null) { // after the call
            completions.fail(reached, closed);
            return;
        }
        waiters.add(new Waiter(count, reached));
        announce();
    }

    /** Called when some have come or left. */
    public void changed(int now) {
        count(now);
        announce();
    }

    /** Sets how many are there, and leaves the futures for {@link #announce}. */
    public void count(int now) {
        there.set(now);
    }

    /** Completes the futures that have waited for so many. They may lead to user code, which may wait for others. */
    public void announce() {
        if (waiters.isEmpty()) {
            return;
        }
        List<Waiter> reached = new ArrayList<>();
        waiters.removeIf(waiter -> (waiter.reached.isDone() || there() >= waiter.count) && reached.add(waiter));
        reached.forEach(waiter -> completions.succeed(waiter.reached));
    }

    public void close(ZMTPSocketException cause) {
        closed = cause;
        List<Waiter> all = List.copyOf(waiters);
        waiters.clear();
        all.forEach(waiter -> completions.fail(waiter.reached, cause));
    }
}
