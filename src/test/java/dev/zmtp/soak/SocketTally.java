package dev.zmtp.soak;

import dev.zmtp.ZMTPMessage;
import java.util.BitSet;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * What has arrived at one end of a link between sockets: no message is torn or comes twice, and those of one peer of
 * the socket are in order. Those of two connections may overtake each other.
 */
final class SocketTally {

    private final Consumer<String> wrong;
    private final Map<Long, BitSet> arrived = new HashMap<>();
    private final IdentityHashMap<Object, Map<Long, Long>> last = new IdentityHashMap<>();
    private long count;

    /** A tally that reports what is wrong. */
    SocketTally(Consumer<String> wrong) {
        this.wrong = wrong;
    }

    /** Takes the message over. */
    void got(Object from, ZMTPMessage message) {
        try {
            Numbered numbered = Numbered.of(message);
            add(from, numbered.stream(), numbered.number());
        } catch (TornException e) {
            wrong.accept("torn: " + e.getMessage());
        } finally {
            message.release();
        }
    }

    /** Takes ownership of a message that can have been overtaken by any other. */
    void got(ZMTPMessage message) {
        got(this, message);
    }

    /** Takes over what must be this message. Answers may come in any order. */
    void answered(ZMTPMessage message, long stream, long number) {
        try {
            Numbered numbered = Numbered.of(message);
            if (numbered.stream() != stream || numbered.number() != number) {
                wrong.accept(numbered + " (expected: message " + number + " of stream " + stream + ")");
            }
            add(this, stream, number);
        } catch (TornException e) {
            wrong.accept("torn: " + e.getMessage());
        } finally {
            message.release();
        }
    }

    private synchronized void add(Object from, long stream, long number) {
        BitSet numbers = arrived.computeIfAbsent(stream, s -> new BitSet());
        if (numbers.get((int) number)) {
            wrong.accept("message " + number + " of stream " + stream + " has arrived twice");
        }
        numbers.set((int) number);
        Long before = from == this
                ? null
                : last.computeIfAbsent(from, peer -> new HashMap<>()).put(stream, number);
        if (before != null && before >= number) {
            wrong.accept("message " + number + " of stream " + stream + " after " + before + " from the same peer");
        }
        count++;
    }

    synchronized long count() {
        return count;
    }

    /** How many of a stream have arrived. */
    synchronized long count(long stream) {
        BitSet numbers = arrived.get(stream);
        return numbers == null ? 0 : numbers.cardinality();
    }
}
