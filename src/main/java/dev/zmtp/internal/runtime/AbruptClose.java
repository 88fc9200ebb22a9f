package dev.zmtp.internal.runtime;

import io.netty.channel.ChannelHandlerContext;

/** The end of a connection whose peer does not read. */
public final class AbruptClose {

    private AbruptClose() {}

    /**
     * Closes the channel at once. The handlers before {@code ctx} are asked first. But an {@code SslHandler} would wait
     * for seconds until its close_notify has been flushed, and keep all that it has encrypted. On the event loop.
     */
    public static void of(ChannelHandlerContext ctx) {
        ctx.close();
        ChannelHandlerContext first = ctx.pipeline().firstContext();
        if (first != null && ctx.channel().isOpen()) {
            first.close();
        }
    }
}
