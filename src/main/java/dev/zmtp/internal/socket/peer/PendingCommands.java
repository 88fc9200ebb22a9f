package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPSubscription;
import io.netty.buffer.ByteBuf;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The subscriptions or memberships that wait until a publisher reads. They are the difference between the commands sent
 * to the publisher and the current state. A subscription and its cancellation cancel each other out while both wait, so
 * there are never more commands than topics. They are sorted by topic, because topics chosen by peers could collide in
 * a hash table.
 */
final class PendingCommands {

    private final NavigableMap<ByteBuf, Object> byTopic = new TreeMap<>();

    boolean isEmpty() {
        return byTopic.isEmpty();
    }

    /** Adds the command, or removes the opposite command. Commands of a topic alternate. */
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

    /** Removes and returns a command; null if there is none. */
    @Nullable
    Object poll() {
        Map.Entry<ByteBuf, Object> first = byTopic.pollFirstEntry();
        return first == null ? null : first.getValue();
    }
}
