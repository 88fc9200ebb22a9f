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
 * there are never more commands than topics. They are sorted by topic, because topics chosen by peers could collide in
 * a hash table.
 */
final class PendingCommands {

    /** Maximum number of bytes that a command takes besides its topic. */
    private static final int PER_COMMAND = 256;

    private final NavigableMap<ByteBuf, Object> byTopic = new TreeMap<>();
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
        if (byTopic.remove(topic) == null) {
            byTopic.put(topic, command);
            bytes += bytes(topic);
        } else {
            bytes -= bytes(topic);
        }
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

    private static ByteBuf topic(Object command) {
        return command instanceof ZMTPSubscription subscription
                ? subscription.topic()
                : ((ZMTPMembership) command).group();
    }

    /** Removes and returns a command; null if there is none. */
    @Nullable
    Object poll() {
        Map.Entry<ByteBuf, Object> first = byTopic.pollFirstEntry();
        if (first != null) {
            bytes -= bytes(first.getKey());
            return first.getValue();
        }
        Object other = others == null ? null : others.get();
        if (other == null) {
            others = null;
        }
        return other;
    }

    /** Removes all commands. No more commands are added. */
    void close() {
        closed = true;
        byTopic.clear();
        others = null;
        bytes = 0;
    }
}
