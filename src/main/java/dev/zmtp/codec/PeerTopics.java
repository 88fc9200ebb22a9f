package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import io.netty.buffer.ByteBuf;

/**
 * The topics or groups that a peer has subscribed to or joined. They are bounded here: the publisher must keep them
 * too, and a peer could ask for ever more.
 */
final class PeerTopics {

    /**
     * What a topic counts on top of its bytes: no less than what we and a publisher's {@link dev.zmtp.ZMTPTopicMatcher}
     * keep for one, if a peer chooses its topics so that each of them takes most. Decision 011 has the figures.
     */
    static final int OVERHEAD = 256;

    private final int maxTopics;
    private final long maxLength;

    private final Fingerprints topics = new Fingerprints();

    private long length;

    PeerTopics(ZMTPConfig config) {
        maxTopics = config.maxSubscriptions();
        maxLength = config.maxSubscriptionsLength();
    }

    /**
     * Adds or removes {@code topic}, whose indices are not moved. Adding one twice is adding it once; removing one that
     * was not added does nothing.
     *
     * @throws ZMTPException if the peer has asked for too much
     */
    void update(boolean add, ByteBuf topic) {
        if (add) {
            add(topic);
        } else if (topics.remove(topics.of(topic))) {
            length -= cost(topic);
        }
    }

    private void add(ByteBuf topic) {
        if (!topics.add(topics.of(topic))) {
            return;
        }
        length += cost(topic);
        if (topics.size() > maxTopics) {
            throw ZMTPException.tooLarge("subscriptions", topics.size(), maxTopics);
        }
        if (length > maxLength) {
            throw ZMTPException.tooLarge("length of all subscriptions", length, maxLength);
        }
    }

    /** The bytes on the heap that are kept here now. They are far fewer than those of the topics. */
    long memory() {
        return topics.memory();
    }

    private static int cost(ByteBuf topic) {
        return topic.readableBytes() + OVERHEAD;
    }
}
