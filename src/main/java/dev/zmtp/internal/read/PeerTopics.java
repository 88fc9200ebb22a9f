package dev.zmtp.internal.read;

import dev.zmtp.ZMTPException;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.connection.Overhead;
import io.netty.buffer.ByteBuf;

/**
 * The topics or groups that a peer has subscribed to or joined. They are limited here, because the publisher must
 * retain them too, and a peer could request ever more.
 */
public final class PeerTopics {

    private final int maxTopics;
    private final long maxLength;

    private final Fingerprints topics = new Fingerprints();

    private long length;

    /** @param relay whether the peer also subscribes for others, like the XSUB of a proxy */
    public PeerTopics(ZMTPConfig config, boolean relay) {
        maxTopics = relay ? config.maxRelayedSubscriptions() : config.maxSubscriptions();
        maxLength = relay ? config.maxRelayedSubscriptionsLength() : config.maxSubscriptionsLength();
    }

    /**
     * Adds or removes {@code topic}, whose indices are not moved. Adding a topic again, and removing an absent topic,
     * have no effect.
     *
     * @return whether the topics have changed
     * @throws ZMTPException if the peer exceeds a limit
     */
    public boolean update(boolean add, ByteBuf topic) {
        if (add) {
            return add(topic);
        }
        boolean removed = topics.remove(topics.of(topic));
        if (removed) {
            length -= cost(topic);
        }
        return removed;
    }

    /**
     * Returns the counted memory of the topics: their bytes, plus the maximum overhead here and in the publisher's
     * matcher.
     */
    public long counted() {
        return length;
    }

    /**
     * Returns the number of bytes that are currently used here on the heap, which is far less than the length of the
     * topics.
     */
    long memory() {
        return topics.memory();
    }

    private boolean add(ByteBuf topic) {
        if (!topics.add(topics.of(topic))) {
            return false;
        }
        length += cost(topic);
        if (topics.size() > maxTopics) {
            throw ZMTPException.tooLarge("subscriptions", topics.size(), maxTopics);
        }
        if (length > maxLength) {
            throw ZMTPException.tooLarge("length of all subscriptions", length, maxLength);
        }
        return true;
    }

    private static int cost(ByteBuf topic) {
        return topic.readableBytes() + Overhead.PER_TOPIC;
    }
}
