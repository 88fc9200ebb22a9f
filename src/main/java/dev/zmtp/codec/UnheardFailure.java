package dev.zmtp.codec;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLoggerFactory;

/**
 * The last handler of a pipeline whose handshake fails. It logs a {@link ZMTPHandshakeFailure} that all handlers have
 * passed on: Netty drops such an event without a word, and a program without a handler for it would never say why no
 * message arrives.
 */
final class UnheardFailure extends ChannelInboundHandlerAdapter {

    private static final RateLimitedLog LOG = new RateLimitedLog(
            InternalLoggerFactory.getInstance(UnheardFailure.class), InternalLogLevel.INFO, System::nanoTime);

    private final RateLimitedLog log;

    UnheardFailure(RateLimitedLog log) {
        this.log = log;
    }

    /** Listens at the end of {@code pipeline}, where the failure is about to be fired. Returns the pipeline. */
    static ChannelPipeline listen(ChannelPipeline pipeline) {
        return pipeline.addLast(new UnheardFailure(LOG));
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ZMTPHandshakeFailure) {
            log.log(event, "was taken by no handler", null);
        }
        ctx.fireUserEventTriggered(event);
    }
}
