package dev.zmtp.internal.socket.context;

import dev.zmtp.codec.ZMTPMemoryBudget;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.ArrayList;
import java.util.List;

/**
 * The connections of a socket that were written to and not flushed. They are flushed when the tasks that are due now
 * have also written, and all at once when they have much: what is not flushed takes memory, and there may be thousands
 * of connections. On the event loop.
 */
public final class PendingFlushes implements Runnable {

    /** The messages that were written to one connection. */
    public interface Writes {
        void flush();

        /** Called after the tasks that were due. Flushes, and looks at what was written. */
        void complete();
    }

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.PendingFlushes");

    /**
     * The part of what is left of the memory budget that may be written and not flushed. The less is left, the fewer
     * buffers are open together: when most of them are free again and some have to wait, an allocator keeps the memory
     * of all.
     */
    private static final int PART = 8;

    /** However little is left, so much may be. */
    static final long LEAST_BYTES = 1 << 18;

    private final SocketContext context;

    private final ZMTPMemoryBudget budget;
    private List<Writes> written = new ArrayList<>(0);
    private List<Writes> spare = new ArrayList<>(0);
    private long bytes;
    private long bytesOfTask;
    private boolean flushing;

    PendingFlushes(SocketContext context) {
        this.context = context;
        this.budget = context.config().codec().memoryBudget();
    }

    /** Adds what will be flushed. */
    public void add(Writes writes) {
        if (written.isEmpty()) {
            context.execute(this);
        }
        written.add(writes);
    }

    /** Called when this many bytes more were written to a connection that was added. */
    public void written(long more) {
        bytes += more;
        bytesOfTask += more;
        if (isMuch(bytes) && !flushing) { // not in the middle of a flush, whose listeners may write
            flushAll();
        }
    }

    /**
     * Whether the messages that are still to be sent are for a later task: connections whose peers do not read keep
     * what this one has written, and those that are ended for that end in a task of theirs.
     */
    public boolean isTaskLong() {
        return isMuch(bytesOfTask);
    }

    private boolean isMuch(long bytes) {
        return bytes > LEAST_BYTES && bytes > (budget.limit() - budget.used()) / PART;
    }

    private void flushAll() {
        bytes = 0;
        flushing = true;
        try {
            for (int i = 0; i < written.size(); i++) { // more may be added meanwhile
                written.get(i).flush();
            }
        } finally {
            flushing = false;
        }
    }

    /** The tasks that were due have written. */
    @Override
    public void run() {
        List<Writes> all = written;
        written = spare; // what is written from now on is for the next task
        spare = all;
        bytes = 0;
        bytesOfTask = 0;
        context.completions().begin();
        try {
            complete(all);
        } finally {
            all.clear();
            context.completions().end(); // now: those who wait for results send the next messages together
        }
    }

    private static void complete(List<Writes> all) {
        for (Writes each : all) {
            try {
                each.complete();
            } catch (RuntimeException e) { // the others are flushed nevertheless
                logger.warn("A connection was not flushed", e);
            }
        }
    }
}
