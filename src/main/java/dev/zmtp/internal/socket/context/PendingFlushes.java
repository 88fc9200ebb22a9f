package dev.zmtp.internal.socket.context;

import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.runtime.RateLimitedLog;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The connections of a socket with unflushed writes. They are flushed after the tasks that are due now have written as
 * well, or all at once when they have many unflushed bytes, because unflushed messages take memory and there can be
 * thousands of connections. On the event loop.
 */
public final class PendingFlushes implements Runnable {

    /** The messages written to a connection. */
    public interface Writes {
        void flush();

        /** Called after the tasks that were due. Flushes, and checks the progress of the writes. */
        void complete();
    }

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.PendingFlushes");

    /**
     * Fraction of the remaining memory budget that can be written without a flush, as a divisor. The less remains, the
     * fewer buffers are open at the same time. If most of them are freed while some have to wait, an allocator retains
     * the memory of all of them.
     */
    private static final int PART = 8;

    /** Number of bytes that can always be written without a flush, however little of the budget remains. */
    static final long LEAST_BYTES = 1 << 18;

    /**
     * Maximum time for which writes lead to writes that are flushed next, in nanoseconds. After it, the event loop
     * reads first.
     */
    private static final long CONSECUTIVE = TimeUnit.MILLISECONDS.toNanos(1);

    /** Time without writes that ends a chain, in nanoseconds. Its steps can take long. */
    private static final long REST = TimeUnit.MILLISECONDS.toNanos(100);

    private final SocketContext context;
    private final RateLimitedLog failures;

    private final ZMTPMemoryBudget budget;

    /** Maximum number of writes of a task. A message of a publisher is a write for each of its subscribers. */
    public static final int MAX_WRITES = 128 * LoopBudget.MESSAGES;

    private List<Writes> written = new ArrayList<>(0);
    private List<Writes> spare = new ArrayList<>(0);
    private long bytes;
    private long bytesOfTask;
    private int writesOfTask;
    private boolean flushing;

    /** True while the current code runs because of earlier writes. */
    private boolean following;

    /** Times of the first and the last write of a chain, in which each follows from others; 0 without a chain. */
    private long chainSince;

    private long lastOfChain;

    PendingFlushes(SocketContext context) {
        this.context = context;
        this.failures = context.warnings(logger);
        this.budget = context.config().codec().memoryBudget();
    }

    /** Adds the writes of a connection, to be flushed later. */
    public void add(Writes writes) {
        if (written.isEmpty()) {
            if (isLongChain()) {
                chainSince = 0;
                context.executeAfterReads(this);
            } else {
                context.execute(this);
            }
        }
        written.add(writes);
    }

    /** Returns whether writes have led to writes for so long that the event loop reads next. */
    private boolean isLongChain() {
        if (!following && !context.completions().areCompleting()) {
            chainSince = 0;
            return false;
        }
        long now = System.nanoTime() | 1; // never 0
        if (chainSince == 0 || now - lastOfChain > REST) {
            chainSince = now;
        }
        lastOfChain = now;
        return now - chainSince > CONSECUTIVE;
    }

    /** Runs what follows from writes, such as that there is room for others. */
    public void follow(Runnable action) {
        boolean nested = following;
        following = true;
        try {
            action.run();
        } finally {
            following = nested;
        }
    }

    /** Called when this many more bytes have been written to a connection that was added. */
    public void written(long more) {
        bytes += more;
        bytesOfTask += more;
        writesOfTask++;
        if (isMuch(bytes) && !flushing) { // not during a flush, whose listeners can write
            flushAll();
        }
    }

    /**
     * Returns whether the remaining messages should be sent by a later task. Connections whose peers do not read retain
     * the bytes written by this task, and connections that are ended for that end in a task of their own. All other
     * connections wait for the end of this task, too.
     */
    public boolean isTaskLong() {
        return writesOfTask >= MAX_WRITES || isMuch(bytesOfTask);
    }

    private boolean isMuch(long bytes) {
        return bytes > LEAST_BYTES && bytes > (budget.limit() - budget.used()) / PART;
    }

    private void flushAll() {
        bytes = 0;
        flushing = true;
        try {
            for (int i = 0; i < written.size(); i++) { // more can be added during the loop
                written.get(i).flush();
            }
        } finally {
            flushing = false;
        }
    }

    /** Runs after the tasks that were due have written. */
    @Override
    public void run() {
        List<Writes> all = written;
        written = spare; // later writes belong to the next task
        spare = all;
        bytes = 0;
        bytesOfTask = 0;
        writesOfTask = 0;
        context.completions().begin();
        try {
            following = true; // not by follow(), whose action would be an object for each flush
            complete(all);
        } finally {
            following = false;
            all.clear();
            context.completions().end(); // now, so that callers waiting for results send their next messages together
        }
    }

    private void complete(List<Writes> all) {
        for (Writes each : all) {
            try {
                each.complete();
            } catch (Throwable e) { // for example out of memory; the other connections are flushed anyway
                failures.log("A connection", "was not flushed", e);
            }
        }
    }
}
