package dev.zmtp.codec;

import dev.zmtp.ZMTPMessage;
import io.netty.channel.ChannelConfig;
import io.netty.channel.DefaultMessageSizeEstimator;
import io.netty.channel.MessageSizeEstimator;

/**
 * Netty's default estimator, extended to {@link ZMTPMessage}. Writes from other threads count towards writability by
 * this estimate until they reach the event loop.
 */
final class ZMTPSizeEstimator implements MessageSizeEstimator, MessageSizeEstimator.Handle {

    private static final ZMTPSizeEstimator INSTANCE = new ZMTPSizeEstimator();

    private final Handle others = DefaultMessageSizeEstimator.DEFAULT.newHandle();

    private ZMTPSizeEstimator() {}

    /** Sets this estimator for a channel that has Netty's default one; any other may know more. */
    static void install(ChannelConfig config) {
        if (config.getMessageSizeEstimator() == DefaultMessageSizeEstimator.DEFAULT) {
            config.setMessageSizeEstimator(INSTANCE);
        }
    }

    /** The bytes of a message plus the overhead of its frames. */
    static long sizeOf(ZMTPMessage message) {
        return message.readableBytes() + (long) Overhead.BYTES * message.size();
    }

    @Override
    public Handle newHandle() {
        return this;
    }

    @Override
    public int size(Object message) {
        return message instanceof ZMTPMessage frames
                ? (int) Math.min(Integer.MAX_VALUE, sizeOf(frames))
                : others.size(message);
    }
}
