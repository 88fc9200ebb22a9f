package dev.zmtp.soak;

import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What one connection, or one socket that has several, received of one stream: it notices what is missing, twice, or
 * out of order. For one thread at a time.
 */
final class Incoming {

    private final long stream;
    private final TreeSet<Long> missing = new TreeSet<>();
    private long first = -1;
    private long next = -1;
    private boolean ended;

    Incoming(long stream) {
        this.stream = stream;
    }

    long stream() {
        return stream;
    }

    /** The number of the first message that came. */
    synchronized long first() {
        return first;
    }

    /** One more than the highest number that came; -1 if nothing did. */
    synchronized long next() {
        return next;
    }

    /** Whether an end came. */
    synchronized boolean isEnded() {
        return ended;
    }

    /** Takes the next message; returns what is wrong with it, or null. */
    synchronized @Nullable String take(Numbered message) {
        long number = message.number();
        String fault = null;
        if (first < 0) {
            first = number;
        } else if (number > next) {
            for (long lost = next; lost < number; lost++) {
                missing.add(lost);
            }
            fault = message + " came next (expected: " + next + "): lost, or out of order";
        } else if (missing.remove(number)) {
            fault = message + " came behind " + (next - 1) + ": out of order";
        } else if (number < first) {
            fault = message + " came behind " + first + ": out of order";
        } else if (number < next) {
            fault = message + " came again: duplicated";
        }
        if (fault == null && ended && !message.end()) {
            fault = message + " came behind the end";
        }
        next = Math.max(next, number + 1);
        ended |= message.end();
        return fault;
    }

    @Override
    public synchronized String toString() {
        return next < 0
                ? "nothing of stream " + stream
                : first + " to " + (next - 1) + " of stream " + stream + (ended ? ", with its end" : "");
    }
}
