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

    /** Maximum number of bytes that all connections together have written and not flushed, give or take a message. */
    static final long MAX_BYTES = 1 << 20;

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.PendingFlushes");

    /**
     * When so much was written by one task, other tasks come first: connections whose peers do not read keep it, and
     * those that are ended for that end in a task of theirs.
     */
    static final long MAX_BYTES_OF_TASK = 4 << 20;

    private final SocketContext context;
    private List<Writes> written = new ArrayList<>(0);
    private List<Writes> spare = new ArrayList<>(0);
    private long bytes;
    private long bytesOfTask;
    private boolean flushing;

    PendingFlushes(SocketContext context) {
        this.context = context;
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
        if (bytes > MAX_BYTES && !flushing) { // not in the middle of a flush, whose listeners may write
            flushAll();
        }
    }

    /** Whether the messages that are still to be sent are for a later task. */
    public boolean isTaskLong() {
        return bytesOfTask > MAX_BYTES_OF_TASK;
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
