package dev.zmtp.testing;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.util.ArrayList;
import java.util.List;

/**
 * Stands before a codec and delays each close until a test runs it, as an SslHandler does that sends its close_notify.
 */
public final class SlowToClose extends ChannelOutboundHandlerAdapter {

    public final List<Runnable> closes = new ArrayList<>();

    @Override
    public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
        closes.add(() -> ctx.close(promise));
    }
}
