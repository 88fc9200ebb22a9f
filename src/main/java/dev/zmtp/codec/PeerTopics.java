package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;

/**
 * The topics or groups that a peer has asked for and not given back. They are bounded here, since whoever publishes must keep
 * them too, and a peer could ask for ever more.
 */
final class PeerTopics {

    /** What a topic counts beside its octets: about what it costs to keep. */
    private static final int TOPIC_OVERHEAD = 64;

    private final int maxTopics;
    private final long maxLength;

    /** One character an octet. Strings, as topics that are made to have the same hash are still found fast. */
    private final Set<String> topics = new HashSet<>();

    private long length;

    PeerTopics(ZMTPConfig config) {
        maxTopics = config.maxSubscriptions();
        maxLength = config.maxSubscriptionsLength();
    }

    /**
     * Notes that the peer asks for {@code topic}, which is not moved. Asking twice is asking once.
     *
     * @throws ZMTPException if it has asked for too much
     */
    void add(ByteBuf topic) {
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

    /** Notes that the peer gives {@code topic} back, which is not moved. It may not have asked for it. */
    void remove(ByteBuf topic) {
        if (topics.remove(key(topic))) {
            length -= cost(topic);
        }
    }

    private static int cost(ByteBuf topic) {
        return topic.readableBytes() + TOPIC_OVERHEAD;
    }

    private static String key(ByteBuf topic) {
        return topic.toString(StandardCharsets.ISO_8859_1);
    }
}
