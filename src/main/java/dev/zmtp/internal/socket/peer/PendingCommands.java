package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.internal.socket.context.TopicChanges;
import io.netty.buffer.ByteBuf;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The subscriptions or memberships that wait until a publisher reads. They are the difference between the commands sent
 * to the publisher and the current state.
 */
final class PendingCommands {

    /** Maximum number of bytes that a command takes besides its topic. */
    private static final int PER_COMMAND = 256;

    /** Maximum number of removals that wait for the commands of a supplier. */
    private static final int MAX_HELD = 1_024;

    private final TopicChanges<Object> changes = new TopicChanges<>();
    private int removals;
    private @Nullable Supplier<@Nullable Object> others;
    private long bytes;
    private boolean closed;

    /** Returns whether there are no commands. A supplier might have commands until it returns null. */
    boolean isEmpty() {
        return changes.isEmpty() && others == null;
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
        if (changes.add(topic, command)) {
            bytes += bytes(topic);
            removals += isAddition(command) ? 0 : 1;
        } else {
            bytes -= bytes(topic);
            removals -= isAddition(command) ? 1 : 0;
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
        TopicChanges.Change<Object> first = changes.first();
        boolean isHeld = first == null || (!isAddition(first.value()) && removals < MAX_HELD);
        if (others != null && isHeld) {
            Object other = others.get();
            if (other != null) {
                return other;
            }
            others = null;
        }
        if (first == null) {
            return null;
        }
        changes.removeFirst();
        bytes -= bytes(first.topic());
        removals -= isAddition(first.value()) ? 0 : 1;
        return first.value();
    }

    /** Removes all commands. No more commands are added. */
    void close() {
        closed = true;
        changes.clear();
        removals = 0;
        others = null;
        bytes = 0;
    }
}
