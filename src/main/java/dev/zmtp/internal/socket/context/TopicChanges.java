package dev.zmtp.internal.socket.context;

import io.netty.buffer.ByteBuf;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Subscriptions and cancellations, or the like, that wait. They leave in the order in which they were made, as a topic
 * might replace another. Those of one topic alternate, and cancel each other out while both wait, so there are never
 * more changes than topics. Not thread safe.
 */
public final class TopicChanges<T> {

    /** A change, and its topic. */
    public record Change<T>(ByteBuf topic, T value) {}

    /** Numbers of the changes. Sorted, because topics chosen by peers could collide in a hash table. */
    private final NavigableMap<ByteBuf, Long> numbers = new TreeMap<>();

    private final NavigableMap<Long, Change<T>> changes = new TreeMap<>();
    private long last;

    public boolean isEmpty() {
        return changes.isEmpty();
    }

    /** Adds the change and returns true, or removes the opposite change of the topic and returns false. */
    public boolean add(ByteBuf topic, T change) {
        Long opposite = numbers.remove(topic);
        if (opposite != null) {
            changes.remove(opposite);
            return false;
        }
        Long number = ++last;
        changes.put(number, new Change<>(topic, change));
        try {
            numbers.put(topic, number);
        } catch (Throwable e) { // there is no memory
            changes.remove(number);
            throw e;
        }
        return true;
    }

    /** Returns the first change; null if there is none. */
    public @Nullable Change<T> first() {
        Map.Entry<Long, Change<T>> first = changes.firstEntry();
        return first == null ? null : first.getValue();
    }

    /** Removes the first change, if there is one. */
    public void removeFirst() {
        Map.Entry<Long, Change<T>> first = changes.pollFirstEntry();
        if (first != null) {
            numbers.remove(first.getValue().topic());
        }
    }

    public void clear() {
        numbers.clear();
        changes.clear();
    }
}
