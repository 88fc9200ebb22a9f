package dev.zmtp.internal.socket.context;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.ConsistentDeque;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Completes the futures that a socket has returned to its application. A completion can run user code that sends,
 * receives or makes a request again, and the future of that call can be completed at once, and so on. Therefore only a
 * few futures are completed where their result becomes known. The others are completed in order by a task, a limited
 * number in each run. Otherwise the loop that completes them would never end, or each future would be completed inside
 * the completion of the previous future until the stack overflows.
 * <p>On other threads a future is completed at once, unless many calls are nested there.
 */
public final class Completions implements Runnable {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Completions");

    /** Maximum number of futures completed at once between two runs of the task. */
    static final int AT_ONCE = 32;

    /** Like {@link #AT_ONCE}, for the results of a flush. A listener for room can nest this many calls then. */
    static final int AT_ONCE_IN_A_FLUSH = 256;

    /** Number of entries of {@link #waiting} for each future. */
    private static final int ENTRIES = 2;

    /** Fraction of the waiting futures completed in a run, as a divisor, if that is more than {@link #IN_A_RUN}. */
    private static final int PART = 8;

    /**
     * Number of futures completed in a run, unless far more are waiting. Others can be completed at once before and
     * after the run.
     */
    static final int IN_A_RUN = LoopBudget.MESSAGES - 2 * AT_ONCE;

    /**
     * Number of calls from other threads between two checks of the stack depth. It is prime, so that threads which call
     * alternately are all checked.
     */
    private static final int CALLS = 61;

    /** Number of frames from which a stack counts as nested. Large programs have half as many. */
    private static final int DEEP = 1_024;

    /** Time after which a caller on another thread has most likely returned, in nanoseconds. */
    private static final long MOMENT = TimeUnit.MILLISECONDS.toNanos(1);

    /** Stands for success, because the value of the future is null then. */
    private static final Object DONE = new Object();

    private static final Object RUN = new Object();

    private final SocketContext context;

    /** Tasks of timers, which an event loop does not run when it ends. */
    private final Queue<Runnable> delayed = new ConcurrentLinkedQueue<>();

    private final Runnable delayedTask = this::runDelayed;

    /** Approximate number of calls from all other threads. */
    private int calls;

    // On the event loop
    /** Each entry is followed by its outcome: {@link #DONE}, the failure of the future, or {@link #RUN}. */
    private final Deque<Object> waiting = new ConsistentDeque<>();

    private int atOnce;

    /** Current maximum number of futures completed at once. */
    private int most = AT_ONCE;

    private boolean running;
    private boolean scheduled;

    Completions(SocketContext context) {
        this.context = context;
    }

    // From any thread. A result is null if the sender does not need it

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

    /** Like {@link #fail(CompletableFuture, Throwable)}, but never within this call. On the event loop. */
    public void failLater(CompletableFuture<?> result, Throwable cause) {
        add(result, cause);
    }

    /** Releases a message that is not sent, and fails its result. */
    public void reject(
            ZMTPMessage message,
            @Nullable CompletableFuture<Void> result,
            ZMTPSocketException.Reason reason,
            String text) {
        ReferenceCountUtil.safeRelease(message);
        fail(result, reason, text);
    }

    /** Runs the task after all futures whose results are known have been completed. */
    public void after(Runnable last) {
        complete(last, RUN);
    }

    /**
     * Runs the task on the event loop, after all futures whose results are known, and never within this call.
     *
     * @param nested whether this call must not return a completed future
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
     * Runs the task on the event loop once the caller has returned. The dependents of a future that is already complete
     * would otherwise run inside the caller's own calls.
     */
    private void inAMoment(Runnable task) {
        delayed.add(task);
        if (context.isClosed() || context.schedule(delayedTask, MOMENT) == null) {
            context.executeLaterAnyway(delayedTask);
        }
    }

    private void runDelayed() {
        Runnable next = delayed.poll();
        if (next != null) { // otherwise it was run when the event loop ended
            next.run();
        }
    }

    /**
     * Returns whether a call can return a completed future. If not, the future should be completed by {@link #later}.
     */
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

    /**
     * Returns whether the stack of this thread is deep, like that of a chain of futures that were already complete when
     * they were returned.
     */
    private boolean isNested() {
        if (++calls % CALLS != 0) {
            return false;
        }
        boolean isDeep = StackWalker.getInstance()
                .walk(frames -> frames.skip(DEEP).findFirst().isPresent());
        if (isDeep) {
            calls--; // so that the next call checks again
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
        } catch (Throwable e) { // the other futures are completed anyway
            logger.warn("What follows from the end of a future has failed", e);
        }
    }

    // On the event loop

    /** Returns whether the caller is called by what a completion runs. */
    boolean areCompleting() {
        return running;
    }

    /** Returns whether a future can be completed at once. If so, it is counted. */
    private boolean takeTurn() {
        if (running || !waiting.isEmpty() || scheduled || atOnce >= most) {
            return false;
        }
        atOnce++;
        return true;
    }

    private void add(Object what, Object outcome) {
        waiting.add(what);
        try {
            waiting.add(outcome);
        } catch (Throwable e) { // there is no memory
            waiting.removeLast();
            throw e;
        }
        schedule();
    }

    private void schedule() {
        if (!scheduled && !running && most == AT_ONCE) { // otherwise the code that is running checks again
            scheduled = true; // not now even if the loop ends, because a chain continues until the socket closes
            try {
                context.executeLaterAnyway(this);
            } catch (Throwable e) { // there is no memory for the task, so the next future has it run
                scheduled = false;
            }
        }
    }

    /**
     * Called in a task in which many results can become known. The task counts as a run, which ends with {@link #end}.
     */
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
        scheduled = true; // what is completed schedules nothing
        try {
            completeSome(left);
        } finally {
            atOnce = 0;
            scheduled = false;
            if (!waiting.isEmpty()) {
                context.executeAfterReads(this);
                scheduled = true; // only now, because there might be no memory for the task
            }
        }
    }

    /** Completes the futures that wait for a timer, because the socket ends, and its event loop can end at once. */
    public void completeDelayed() {
        for (Runnable next = delayed.poll(); next != null; next = delayed.poll()) {
            next.run();
        }
    }

    /** Completes all waiting futures, because the event loop has ended and runs no more tasks. */
    public void completeAll() {
        completeDelayed();
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
