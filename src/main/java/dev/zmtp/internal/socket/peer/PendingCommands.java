package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPSubscription;
import io.netty.buffer.ByteBuf;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The subscriptions or memberships that wait until a publisher reads. They are the difference between the commands sent
 * to the publisher and the current state. A subscription and its cancellation cancel each other out while both wait, so
 * there are never more commands than topics. They leave in the order in which they were added. They are found in a
 * sorted map, because topics chosen by peers could collide in a hash table.
 */
final class PendingCommands {

    /** Maximum number of bytes that a command takes besides its topic. */
    private static final int PER_COMMAND = 256;

    /** Maximum number of removals that wait for the commands of a supplier. */
    private static final int MAX_HELD = 1_024;

    /** Numbers of the commands. */
    private final NavigableMap<ByteBuf, Long> byTopic = new TreeMap<>();

    private final NavigableMap<Long, Object> additions = new TreeMap<>();
    private final NavigableMap<Long, Object> removals = new TreeMap<>();
    private long last;
    private @Nullable Supplier<@Nullable Object> others;
    private long bytes;
    private boolean closed;

    /** Returns whether there are no commands. A supplier might have commands until it returns null. */
    boolean isEmpty() {
        return byTopic.isEmpty() && others == null;
    }

    /** Memory that the commands take, without those of a supplier, in bytes. */
    long bytes() {
        return bytes;
    }

    /** Adds the command, or removes the opposite command. Commands of a topic alternate. Does nothing after the end. */
    void add(Object command) {
        if (closed) {
            return;
        }
        ByteBuf topic = topic(command);
        Long opposite = byTopic.remove(topic);
        if (opposite != null) {
            (isAddition(command) ? removals : additions).remove(opposite);
            bytes -= bytes(topic);
            return;
        }
        Long number = ++last;
        NavigableMap<Long, Object> ordered = isAddition(command) ? additions : removals;
        ordered.put(number, command);
        try {
            byTopic.put(topic, number);
        } catch (Throwable e) { // there is no memory
            ordered.remove(number);
            throw e;
        }
        bytes += bytes(topic);
    }

    /** Adds the commands of a supplier, until it returns null. Does nothing after the end. */
    void addAll(Supplier<@Nullable Object> commands) {
        if (!closed) {
            others = commands;
        }
    }

    private static long bytes(ByteBuf topic) {
        return (long) PER_COMMAND + topic.readableBytes();
    }

    private static boolean isAddition(Object command) {
        return command instanceof ZMTPSubscription subscription
                ? subscription.isSubscribe()
                : ((ZMTPMembership) command).isJoin();
    }

    private static ByteBuf topic(Object command) {
        return command instanceof ZMTPSubscription subscription
                ? subscription.topic()
                : ((ZMTPMembership) command).group();
    }

    /**
     * Removes and returns a command; null if there is none. A removal and what was added after it wait for the commands
     * of a supplier, which can tell of topics that replace the removed topic, unless too many wait.
     */
    @Nullable
    Object poll() {
        boolean isAddition = !additions.isEmpty() && (removals.isEmpty() || additions.firstKey() < removals.firstKey());
        if (others != null && !isAddition && removals.size() < MAX_HELD) {
            Object other = others.get();
            if (other != null) {
                return other;
            }
            others = null;
        }
        NavigableMap<Long, Object> ordered = isAddition ? additions : removals;
        Map.Entry<Long, Object> first = ordered.firstEntry();
        if (first == null) {
            return null;
        }
        ByteBuf topic = topic(first.getValue()); // first, because there can be no memory for it
        byTopic.remove(topic);
        ordered.remove(first.getKey());
        bytes -= bytes(topic);
        return first.getValue();
    }

    /** Removes all commands. No more commands are added. */
    void close() {
        closed = true;
        byTopic.clear();
        additions.clear();
        removals.clear();
        others = null;
        bytes = 0;
    }
}
