package dev.zmtp.internal.traffic;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.internal.connection.Connection;
import dev.zmtp.internal.read.CommandRate;
import dev.zmtp.internal.read.PeerTopics;
import io.netty.buffer.ByteBuf;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The subscriptions of a publisher's peer, or the groups of a RADIO's peer. Each change is checked, counted and fired.
 */
final class PeerSubscriptions {

    /** Number of bytes by which a SUBSCRIBE command is longer than a subscription that is sent as a message. */
    private static final int COMMAND_EXCESS = 9;

    private final Connection connection;
    private final ZMTPSocketType type;

    private final CommandRate rate;

    /** Cancellations of a proxy that do not count as commands. */
    private final CommandRate cancels;

    /** Null unless this socket publishes, and before traffic. */
    private @Nullable PeerTopics topics;

    PeerSubscriptions(Connection connection, CommandRate rate) {
        this.connection = connection;
        this.rate = rate;
        this.cancels = new CommandRate(connection.config().maxRelayedSubscriptions(), connection.nanoTime());
        this.type = connection.config().socketType();
    }

    /** Called when the type of the peer is known. */
    void begin() {
        if (type.isPublisher() || type == ZMTPSocketType.RADIO) {
            topics = new PeerTopics(connection.config(), connection.session().isRelay());
        }
    }

    /** Returns the number of bytes that count as retained. */
    long kept() {
        return topics == null ? 0 : topics.counted();
    }

    /** Subscribes a peer that cannot subscribe to all messages. */
    void subscribeToAll() {
        if (type.isPublisher()) {
            connection.fireMessage(ZMTPSubscription.subscribe(""));
        }
    }

    /**
     * Returns whether a frame of this length can be a subscription. Its topic must not be too long for a command,
     * because a proxy sends it on as a command, for which its publisher would end the connection.
     */
    boolean accepts(long length) {
        return length + COMMAND_EXCESS <= connection.config().maxCommandLength();
    }

    /** Called when the peer subscribes to {@code topic} or cancels the subscription. Only a publisher uses this. */
    void update(boolean subscribe, ByteBuf topic) {
        if (!type.isPublisher()) {
            rate.count();
        } else {
            boolean changed = Objects.requireNonNull(topics).update(subscribe, topic);
            if (!changed || !isOfRelay(subscribe)) {
                rate.count();
            }
            connection.fireMessage(subscribe ? ZMTPSubscription.subscribe(topic) : ZMTPSubscription.cancel(topic));
        }
    }

    /**
     * Returns whether a change is one of those that a proxy makes all at once: it subscribes to the topics of all its
     * subscribers, whose number is limited, and cancels them when the subscribers leave.
     */
    private boolean isOfRelay(boolean subscribe) {
        return connection.session().isRelay() && (subscribe || cancels.tryCount());
    }

    /**
     * Called when the peer joins or leaves {@code group}. Only a RADIO uses this.
     *
     * @throws ZMTPException if the name of the group is too long, regardless of the type of this socket
     */
    void updateGroup(boolean join, ByteBuf group) {
        if (group.readableBytes() > ZMTPMembership.MAX_GROUP_LENGTH) {
            throw ZMTPException.tooLarge("group length", group.readableBytes(), ZMTPMembership.MAX_GROUP_LENGTH);
        }
        if (type == ZMTPSocketType.RADIO) {
            Objects.requireNonNull(topics).update(join, group);
            connection.fireMessage(join ? ZMTPMembership.join(group) : ZMTPMembership.leave(group));
        }
    }
}
