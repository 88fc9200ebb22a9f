package dev.zmtp.internal.websocket;

import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The time that a peer has for the end of a connection. The channel is closed when the time is over. */
final class CloseTimer {

    /** Maximum number of milliseconds from the first close frame to the close of the channel. */
    static final long MILLIS = 1000;

    private @Nullable Future<?> timeout;

    void start(ChannelHandlerContext ctx) {
        try {
            timeout = ctx.executor().schedule(() -> ctx.close(), MILLIS, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            ctx.close(); // the event loop is terminating
        }
    }

    void cancel() {
        if (timeout != null) {
            timeout.cancel(false);
            timeout = null;
        }
    }
}
