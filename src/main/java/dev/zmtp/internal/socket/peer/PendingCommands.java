package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPSubscription;
import io.netty.buffer.ByteBuf;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The subscriptions or memberships that wait until a publisher reads: the difference between what it was told and what
 * is wanted. A subscription and its cancel that both wait are nothing to tell, so there are never more than there are
 * topics. Sorted by topic: what peers choose must not collide, as it could in a hash table.
 */
final class PendingCommands {

    private final NavigableMap<ByteBuf, Object> byTopic = new TreeMap<>();

    boolean isEmpty() {
        return byTopic.isEmpty();
    }

    /** Adds the command, or removes the opposite one. Commands of a topic alternate. */
    void add(Object command) {
        ByteBuf topic = topic(command);
        if (byTopic.remove(topic) == null) {
            byTopic.put(topic, command);
        }
    }

    private static ByteBuf topic(Object command) {
        return command instanceof ZMTPSubscription subscription
                ? subscription.topic()
                : ((ZMTPMembership) command).group();
    }

    /** Removes a command and returns it; null if there is none. */
    @Nullable
    Object poll() {
        Map.Entry<ByteBuf, Object> first = byTopic.pollFirstEntry();
        return first == null ? null : first.getValue();
    }
}
