package dev.zmtp.internal.runtime;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;

/** The end of a connection whose peer does not read. */
public final class AbruptClose {

    private AbruptClose() {}

    /**
     * Closes the channel if its handlers have not done so yet, which were asked before. An {@code SslHandler} waits for
     * seconds until its close_notify has been flushed, and keeps all that it has encrypted. On the event loop.
     */
    public static void of(Channel channel) {
        ChannelHandlerContext first = channel.pipeline().firstContext();
        if (first != null && channel.isOpen()) {
            first.close();
        }
    }
}
