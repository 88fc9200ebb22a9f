package dev.zmtp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Request of a subscriber to receive, or to stop receiving, messages whose first frame starts with a topic (RFC 29).
 *
 * <p>To send a request, write it to the channel of a SUB or XSUB. The codec sends it as a command (ZMTP 3.1) or as a
 * message (older versions). The channel of a PUB or XPUB fires each request that its peer sends. An empty topic is the
 * prefix of every message. A publisher keeps a set of topics for each connection, so a topic that is subscribed to
 * twice counts once.
 *
 * <p>Immutable, with nothing to release.
 */
public final class ZMTPSubscription {

    private final boolean subscribe;
    private final byte[] topic;

    private ZMTPSubscription(boolean subscribe, byte[] topic) {
        this.subscribe = subscribe;
        this.topic = topic;
    }

    /** Requests the messages that start with {@code topic} in UTF-8. */
    public static ZMTPSubscription subscribe(CharSequence topic) {
        return new ZMTPSubscription(true, topic.toString().getBytes(StandardCharsets.UTF_8));
    }

    /** Requests the messages that start with the readable bytes of {@code topic}, which are copied. */
    public static ZMTPSubscription subscribe(ByteBuf topic) {
        return new ZMTPSubscription(true, ByteBufUtil.getBytes(topic));
    }

    /** Ends the subscription to {@code topic} in UTF-8. */
    public static ZMTPSubscription cancel(CharSequence topic) {
        return new ZMTPSubscription(false, topic.toString().getBytes(StandardCharsets.UTF_8));
    }

    /** Ends the subscription to the readable bytes of {@code topic}, which are copied. */
    public static ZMTPSubscription cancel(ByteBuf topic) {
        return new ZMTPSubscription(false, ByteBufUtil.getBytes(topic));
    }

    /** Returns true to subscribe, false to cancel. */
    public boolean isSubscribe() {
        return subscribe;
    }

    /** Returns the topic as a read-only heap buffer that needs no release. */
    public ByteBuf topic() {
        return Unpooled.wrappedBuffer(topic).asReadOnly();
    }

    /** Returns the topic, decoded as UTF-8. */
    public String topicUTF8() {
        return new String(topic, StandardCharsets.UTF_8);
    }

    /**
     * Returns whether the first frame of {@code message} starts with the topic. The indices of the frame are not moved.
     */
    public boolean matches(ZMTPMessage message) {
        if (message.size() == 0) {
            return false;
        }
        ByteBuf first = message.frame(0);
        return first.readableBytes() >= topic.length
                && ByteBufUtil.equals(Unpooled.wrappedBuffer(topic), 0, first, first.readerIndex(), topic.length);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ZMTPSubscription that
                && subscribe == that.subscribe
                && Arrays.equals(topic, that.topic);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(topic) + Boolean.hashCode(subscribe);
    }

    @Override
    public String toString() {
        return "ZMTPSubscription{" + (subscribe ? "subscribe " : "cancel ") + Printable.bytes(topic()) + "}";
    }
}
