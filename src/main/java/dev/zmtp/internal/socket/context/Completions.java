package dev.zmtp.internal.socket.context;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Completes the futures that a socket has given to its application. The application may then send, receive or ask
 * again, which may be done at once, and so on. So only a few futures complete where their result becomes known. The
 * others do so in a task, in their order, and only so many in each: the loop that completes them would never end
 * otherwise, or each future would complete inside of the one before until the stack is full.
 *
 * <p>On other threads a future completes at once, unless many calls are nested there.
 */
public final class Completions implements Runnable {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Completions");

    /** How many complete at once between two runs of the task. */
    static final int AT_ONCE = 32;

    /** As {@link #AT_ONCE}, of the results of a flush. A listener for room may nest so many calls then. */
    static final int AT_ONCE_IN_A_FLUSH = 256;

    /** How many entries of {@link #waiting} one takes. */
    private static final int ENTRIES = 2;

    /** The part of those that wait that completes in one run, if that is more. */
    private static final int PART = 8;

    /** How many complete in one run, unless far more wait. There may be others at once before and after it. */
    static final int IN_A_RUN = LoopBudget.MESSAGES - 2 * AT_ONCE;

    /**
     * So many calls of other threads come between two looks at the stack. It is a prime number: threads that call in
     * turn all get to look.
     */
    private static final int CALLS = 61;

    /** The number of frames from which on a stack counts as that of nested calls. Those of large programs have half. */
    private static final int DEEP = 1_024;

    /** So long an event loop waits until a caller on another thread has most likely returned. */
    private static final long MOMENT = TimeUnit.MILLISECONDS.toNanos(1);

    /** Stands for success, as a future's value is null then. */
    private static final Object DONE = new Object();

    private static final Object RUN = new Object();

    private final SocketContext context;

    /** Tasks of timers, which an event loop that ends does not run. */
    private final Queue<Runnable> delayed = new ConcurrentLinkedQueue<>();

    private final Runnable delayedTask = this::runDelayed;

    /** Calls of all other threads, about. */
    private int calls;

    // On the event loop
    /** Each is followed by what is done with it: {@link #DONE}, the failure of a future, or {@link #RUN}. */
    private final Queue<Object> waiting = new ArrayDeque<>(0);

    private int atOnce;

    /** How many may complete at once now. */
    private int most = AT_ONCE;

    private boolean running;
    private boolean scheduled;

    Completions(SocketContext context) {
        this.context = context;
    }

    // From any thread. A result is null if the sender does not want it

    public void succeed(@Nullable CompletableFuture<Void> result) {
        if (result != null) {
            complete(result, DONE);
        }
    }

    public void fail(@Nullable CompletableFuture<?> result, ZMTPSocketException.Reason reason, String text) {
        if (result != null) {
            complete(result, new ZMTPSocketException(reason, text));
        }
    }

    public void fail(CompletableFuture<?> result, Throwable cause) {
        complete(result, cause);
    }

    /** Releases a message that does not leave, and fails its result. */
    public void reject(
            ZMTPMessage message,
            @Nullable CompletableFuture<Void> result,
            ZMTPSocketException.Reason reason,
            String text) {
        ReferenceCountUtil.safeRelease(message);
        fail(result, reason, text);
    }

    /** Runs what is to come after all futures whose results are known. */
    public void after(Runnable last) {
        complete(last, RUN);
    }

    /**
     * Runs the task on the event loop, after all futures whose results are known, and not in this call.
     *
     * @param nested whether this call may not return a complete future
     */
    public void later(Runnable task, boolean nested) {
        if (context.inEventLoop()) {
            add(task, RUN);
        } else if (nested) {
            inAMoment(() -> add(task, RUN));
        } else {
            context.execute(() -> add(task, RUN));
        }
    }

    /**
     * Runs the task on the event loop when the caller has returned: what it makes of a future that is complete by then
     * would run inside of its own calls.
     */
    private void inAMoment(Runnable task) {
        delayed.add(task);
        if (context.isClosed() || context.schedule(delayedTask, MOMENT) == null) {
            context.executeLaterAnyway(delayedTask);
        }
    }

    private void runDelayed() {
        Runnable next = delayed.poll();
        if (next != null) { // otherwise the end has run it
            next.run();
        }
    }

    /** Returns whether a call may return a future that is complete. If not, it should complete {@link #later}. */
    public boolean mayBeComplete() {
        return context.inEventLoop() ? takeTurn() : !isNested();
    }

    private void complete(Object what, Object outcome) {
        if (!context.inEventLoop()) {
            if (isNested()) {
                inAMoment(() -> complete(what, outcome));
            } else {
                apply(what, outcome);
            }
        } else if (takeTurn()) {
            running = true;
            try {
                apply(what, outcome);
            } finally {
                running = false;
            }
            if (!waiting.isEmpty()) {
                schedule();
            }
        } else {
            add(what, outcome);
        }
    }

    /** Whether the stack of this thread is deep, as that of a chain of futures which were complete when it was made. */
    private boolean isNested() {
        if (++calls % CALLS != 0) {
            return false;
        }
        boolean isDeep = StackWalker.getInstance()
                .walk(frames -> frames.skip(DEEP).findFirst().isPresent());
        if (isDeep) {
            calls--; // the next one looks again
        }
        return isDeep;
    }

    private static void apply(Object what, Object outcome) {
        try {
            if (outcome == RUN) {
                ((Runnable) what).run();
            } else if (outcome == DONE) {
                ((CompletableFuture<?>) what).complete(null);
            } else {
                ((CompletableFuture<?>) what).completeExceptionally((Throwable) outcome);
            }
        } catch (Throwable e) { // the others complete nevertheless
            logger.warn("What follows from the end of a future has failed", e);
        }
    }

    // On the event loop

    /** Returns whether one may complete at once. If so, it counts. */
    private boolean takeTurn() {
        if (running || !waiting.isEmpty() || scheduled || atOnce >= most) {
            return false;
        }
        atOnce++;
        return true;
    }

    private void add(Object what, Object outcome) {
        waiting.add(what);
        waiting.add(outcome);
        schedule();
    }

    private void schedule() {
        if (!scheduled && !running && most == AT_ONCE) { // otherwise whatever runs looks again
            scheduled = true; // and not now if the event loop ends: a chain goes on until the socket is closed
            context.executeLaterAnyway(this);
        }
    }

    /** Called in a task in which many results may become known. It stands for a run, which ends in {@link #end}. */
    void begin() {
        most = AT_ONCE_IN_A_FLUSH;
        atOnce = 0;
    }

    void end() {
        int left = IN_A_RUN - atOnce;
        most = AT_ONCE;
        if (!scheduled) {
            run(left);
        }
    }

    @Override
    public void run() {
        run(Math.max(IN_A_RUN, waiting.size() / ENTRIES / PART)); // the writes of many peers add up
    }

    private void run(int left) {
        completeSome(left);
        atOnce = 0;
        scheduled = !waiting.isEmpty();
        if (scheduled) {
            context.executeAfterReads(this);
        }
    }

    /** Completes all that wait, as the event loop has ended and no task will. */
    public void completeAll() {
        for (Runnable next = delayed.poll(); next != null; next = delayed.poll()) {
            next.run();
        }
        scheduled = false;
        completeSome(Integer.MAX_VALUE);
    }

    private void completeSome(int most) {
        running = true;
        try {
            int left = most;
            for (Object next = waiting.poll(); next != null; next = --left == 0 ? null : waiting.poll()) {
                apply(next, waiting.remove());
            }
        } finally {
            running = false;
        }
    }
}
