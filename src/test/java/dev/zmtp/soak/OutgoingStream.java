package dev.zmtp.soak;

import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/** What was sent of one stream, and what became of the promises, if it was sent by the codec. */
final class OutgoingStream {

    private final long stream;
    private final boolean promised;
    private final BitSet completed = new BitSet();
    private long written;
    private long succeeded;
    private long firstFailed = -1;
    private boolean ended;

    /** A stream of this number, with a promise for each message if {@code promised}: then it is of one connection. */
    OutgoingStream(long stream, boolean promised) {
        this.stream = stream;
        this.promised = promised;
    }

    long stream() {
        return stream;
    }

    /** Whether each message has a promise, and all go over the same connection. */
    boolean isPromised() {
        return promised;
    }

    /** The number of messages that were written. */
    synchronized long written() {
        return written;
    }

    /** The number of messages whose promise succeeded. */
    synchronized long succeeded() {
        return succeeded;
    }

    /** Whether its end was written. */
    synchronized boolean isEnded() {
        return ended;
    }

    /** Counts the next message, and returns its header. */
    synchronized Numbered next(boolean end) {
        ended |= end;
        return new Numbered(stream, written++, end);
    }

    /** Says that the promise of a message completed; returns what is wrong with that, or null. */
    synchronized @Nullable String completed(long number, boolean success) {
        if (completed.get((int) number)) {
            return "promise of message " + number + " of stream " + stream + " completed again";
        }
        completed.set((int) number);
        if (!success) {
            firstFailed = firstFailed < 0 ? number : Math.min(firstFailed, number);
            return null;
        }
        succeeded++;
        if (firstFailed >= 0 && number > firstFailed) {
            return "promise of message " + number + " of stream " + stream + " succeeded (expected: failed, as "
                    + firstFailed + " before it)";
        }
        return null;
    }

    /** The number of promises that have not completed. */
    synchronized long pending() {
        return promised ? written - completed.cardinality() : 0;
    }

    @Override
    public synchronized String toString() {
        return written + " written to stream " + stream + (ended ? ", with its end" : "")
                + (promised ? ", " + succeeded + " promises succeeded, " + pending() + " pending" : "");
    }
}
