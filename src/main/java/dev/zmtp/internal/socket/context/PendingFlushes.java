package dev.zmtp.internal.socket.context;

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

    /** The part of the memory budget that may be written and not flushed. */
    private static final int PART = 8;

    /** However small the budget is, so much may be. */
    static final long LEAST_BYTES = 1 << 20;

    /**
     * When so many times as much was written by one task, other tasks come first: connections whose peers do not read
     * keep it, and those that are ended for that end in a task of theirs.
     */
    static final int TIMES = 4;

    private final SocketContext context;

    /** Maximum number of bytes that all connections together have written and not flushed, give or take a message. */
    private final long maxBytes;

    private List<Writes> written = new ArrayList<>(0);
    private List<Writes> spare = new ArrayList<>(0);
    private long bytes;
    private long bytesOfTask;
    private boolean flushing;

    PendingFlushes(SocketContext context) {
        this.context = context;
        this.maxBytes =
                Math.max(LEAST_BYTES, context.config().codec().memoryBudget().limit() / PART);
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
        if (bytes > maxBytes && !flushing) { // not in the middle of a flush, whose listeners may write
            flushAll();
        }
    }

    /** Whether the messages that are still to be sent are for a later task. */
    public boolean isTaskLong() {
        return bytesOfTask / TIMES > maxBytes;
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
        for (Writes each : all) {
            try {
                each.complete();
            } catch (RuntimeException e) { // the others are flushed nevertheless
                logger.warn("A connection was not flushed", e);
            }
        }
        all.clear();
    }
}
