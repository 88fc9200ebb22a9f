package dev.zmtp.internal.read;

import dev.zmtp.ZMTPException;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.connection.Overhead;
import io.netty.buffer.ByteBuf;

/**
 * The topics or groups that a peer has subscribed to or joined. They are bounded here: the publisher must keep them
 * too, and a peer could ask for ever more.
 */
public final class PeerTopics {

    private final int maxTopics;
    private final long maxLength;

    private final Fingerprints topics = new Fingerprints();

    private long length;

    /** @param relay whether the peer subscribes for others, too, as the XSUB of a proxy does */
    public PeerTopics(ZMTPConfig config, boolean relay) {
        maxTopics = relay ? config.maxRelayedSubscriptions() : config.maxSubscriptions();
        maxLength = relay ? config.maxRelayedSubscriptionsLength() : config.maxSubscriptionsLength();
    }

    /**
     * Adds or removes {@code topic}, whose indices are not moved. Adding one twice is adding it once; removing one that
     * was not added does nothing.
     *
     * @return whether the topic was added, and was not there before
     * @throws ZMTPException if the peer has asked for too much
     */
    public boolean update(boolean add, ByteBuf topic) {
        if (add) {
            return add(topic);
        }
        if (topics.remove(topics.of(topic))) {
            length -= cost(topic);
        }
        return false;
    }

    /** What the topics count: their bytes, and at most what they take here and in the publisher's matcher. */
    public long counted() {
        return length;
    }

    /** The bytes on the heap that are kept here now. They are far fewer than those of the topics. */
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
