package dev.zmtp.codec;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.connection.Overhead;
import io.netty.channel.ChannelConfig;
import io.netty.channel.DefaultMessageSizeEstimator;
import io.netty.channel.MessageSizeEstimator;

/**
 * Netty's default estimator, extended to {@link ZMTPMessage}, whose size is the bytes of its frames plus 64 for each
 * frame. Writes from other threads count towards writability by this estimate until they reach the event loop.
 *
 * <p>The codec replaces Netty's default estimator on its channel with this class. However, Netty queries a channel's
 * estimator only once, at the first write of any kind. If the channel writes before the codec is added, for example
 * with ALPN or an HTTP upgrade, a message from another thread counts as 8 bytes. In these cases set the
 * estimator on the bootstrap:
 *
 * <pre>{@code
 *   bootstrap.option(ChannelOption.MESSAGE_SIZE_ESTIMATOR, ZMTPSizeEstimator.INSTANCE);
 *   serverBootstrap.childOption(ChannelOption.MESSAGE_SIZE_ESTIMATOR, ZMTPSizeEstimator.INSTANCE);
 * }</pre>
 */
public final class ZMTPSizeEstimator implements MessageSizeEstimator {

    /** Shared instance, for any number of channels. */
    public static final ZMTPSizeEstimator INSTANCE = new ZMTPSizeEstimator();

    private final Handle handle = new FrameCounter();

    private ZMTPSizeEstimator() {}

    /**
     * Sets this estimator for a channel that has Netty's default estimator. Any other estimator is kept because it can
     * know more types.
     */
    static void install(ChannelConfig config) {
        if (config.getMessageSizeEstimator() == DefaultMessageSizeEstimator.DEFAULT) {
            config.setMessageSizeEstimator(INSTANCE);
        }
    }

    @Override
    public Handle newHandle() {
        return handle;
    }

    private static final class FrameCounter implements Handle {
        private final Handle others = DefaultMessageSizeEstimator.DEFAULT.newHandle();

        @Override
        public int size(Object message) {
            return message instanceof ZMTPMessage frames
                    ? (int) Math.min(Integer.MAX_VALUE, Overhead.sizeOf(frames))
                    : others.size(message);
        }
    }
}
