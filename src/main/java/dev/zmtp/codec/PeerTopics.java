package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;

/**
 * The topics or groups that a peer has subscribed to or joined. They are bounded here: the publisher must keep them
 * too, and a peer could ask for ever more.
 */
final class PeerTopics {

    private final int maxTopics;
    private final long maxLength;

    /** One character per byte. Strings, as topics that are made to have the same hash are still found fast. */
    private final Set<String> topics = new HashSet<>();

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
        } else if (topics.remove(key(topic))) {
            length -= cost(topic);
        }
    }

    /** The bytes of memory that the topics take. */
    long memory() {
        return length;
    }

    private void add(ByteBuf topic) {
        if (!topics.add(key(topic))) {
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

    private static int cost(ByteBuf topic) {
        return topic.readableBytes() + Overhead.BYTES;
    }

    private static String key(ByteBuf topic) {
        return topic.toString(StandardCharsets.ISO_8859_1);
    }
}
