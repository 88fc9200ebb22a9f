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

/** The subscriptions of a publisher's peer, or the groups of a RADIO's: each change is checked, counted and fired. */
final class PeerSubscriptions {

    private final Connection connection;
    private final ZMTPSocketType type;

    private final CommandRate rate;

    /** Null unless this socket publishes, and before traffic. */
    private @Nullable PeerTopics topics;

    PeerSubscriptions(Connection connection, CommandRate rate) {
        this.connection = connection;
        this.rate = rate;
        this.type = connection.config().socketType();
    }

    /** Called when it is known what the peer is. */
    void begin() {
        if (type.isPublisher() || type == ZMTPSocketType.RADIO) {
            topics = new PeerTopics(connection.config(), connection.session().isRelay());
        }
    }

    /** The bytes that count as kept. */
    long kept() {
        return topics == null ? 0 : topics.counted();
    }

    /** The peer cannot subscribe, and gets everything. */
    void subscribeToAll() {
        if (type.isPublisher()) {
            connection.fireMessage(ZMTPSubscription.subscribe(""));
        }
    }

    /** The peer subscribes to {@code topic}, or cancels that, which means something to a publisher alone. */
    void update(boolean subscribe, ByteBuf topic) {
        if (!type.isPublisher()) {
            rate.count();
        } else {
            boolean isNew = Objects.requireNonNull(topics).update(subscribe, topic);
            if (!isNew
                    || !connection
                            .session()
                            .isRelay()) { // a proxy sends all it has at once, and their number has a limit
                rate.count();
            }
            connection.fireMessage(subscribe ? ZMTPSubscription.subscribe(topic) : ZMTPSubscription.cancel(topic));
        }
    }

    /**
     * The peer joins {@code group}, or leaves it, which means something to a RADIO alone.
     *
     * @throws ZMTPException if the name of the group is too long, whatever this socket is
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
