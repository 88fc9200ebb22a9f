package dev.zmtp.codec;

import dev.zmtp.ZMTPMessage;
import io.netty.channel.ChannelConfig;
import io.netty.channel.DefaultMessageSizeEstimator;
import io.netty.channel.MessageSizeEstimator;

/**
 * Netty's own estimator, and the sizes of messages beside: what another thread writes counts towards writability by what an
 * estimator says, until the event loop has it.
 */
final class MessageSizes implements MessageSizeEstimator, MessageSizeEstimator.Handle {

    /** What a frame costs beside its octets. */
    static final int OVERHEAD = 64;

    private static final MessageSizes INSTANCE = new MessageSizes();

    private final Handle others = DefaultMessageSizeEstimator.DEFAULT.newHandle();

    private MessageSizes() {}

    /** Makes the channel know the sizes of messages, unless it was given an estimator that may know more. */
    static void install(ChannelConfig config) {
        if (config.getMessageSizeEstimator() == DefaultMessageSizeEstimator.DEFAULT) {
            config.setMessageSizeEstimator(INSTANCE);
        }
    }

    /** The octets of a message, and what its frames cost beside them. */
    static long of(ZMTPMessage message) {
        return message.readableBytes() + (long) OVERHEAD * message.size();
    }

    @Override
    public Handle newHandle() {
        return this;
    }

    @Override
    public int size(Object message) {
        return message instanceof ZMTPMessage frames
                ? (int) Math.min(Integer.MAX_VALUE, of(frames))
                : others.size(message);
    }
}
