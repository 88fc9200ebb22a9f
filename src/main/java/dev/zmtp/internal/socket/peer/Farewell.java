package dev.zmtp.internal.socket.peer;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.internal.socket.context.SocketContext;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The end of a connection that this side ends. A kernel that has bytes which were not read when a connection is closed
 * resets it, and discards what was written and not delivered. So only the output is shut down, once all is written.
 * What the peer sends from then on is read and dropped, until it has read everything and closes its side. One that
 * takes too long is not waited for.
 */
final class Farewell {

    /** How long the peer has where no linger applies. */
    static final long PATIENCE = TimeUnit.SECONDS.toNanos(3);

    private final SocketContext context;
    private final ChannelHandlerContext ctx;
    private @Nullable ScheduledFuture<?> timer;

    Farewell(SocketContext context, ChannelHandlerContext ctx) {
        this.context = context;
        this.ctx = ctx;
    }

    /** Sets how long the peer has from now on. */
    void within(long nanos) {
        end();
        timer = context.schedule(ctx::close, nanos);
    }

    /** Shuts the output down after what was written until now. */
    void begin() {
        ctx.channel().config().setAutoRead(true); // the peer may write before it reads
        // An empty buffer is not sent. Its promise completes when all before it is written.
        ctx.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> {
            if (written.isSuccess() && ctx.channel() instanceof DuplexChannel duplex) {
                shutDownOutput(duplex);
            } else {
                ctx.close(); // one that is not duplex delivers what was written, also after its end
            }
        });
    }

    private void shutDownOutput(DuplexChannel channel) {
        ChannelPipeline pipeline = ctx.pipeline();
        if (pipeline.get(ZMTPCodec.class) != null) {
            pipeline.remove(
                    ZMTPCodec.class); // it would send PINGs, answer those of the peer, and decode what is dropped
        }
        ChannelFuture last = Tls.closeOutbound(pipeline);
        if (last == null) {
            shutDown(channel);
        } else {
            last.addListener(sent -> shutDown(channel));
        }
    }

    private void shutDown(DuplexChannel channel) {
        channel.shutdownOutput().addListener(shut -> {
            if (!shut.isSuccess()) {
                ctx.close();
            }
        });
    }

    /** Nothing is waited for any more. */
    void end() {
        if (timer != null) {
            timer.cancel(false);
        }
    }

    /** Netty's handlers are an optional dependency. */
    private static final class Tls {
        private static final boolean IS_THERE = isThere();

        private static boolean isThere() {
            try {
                return SslHandler.class.getName() != null;
            } catch (NoClassDefFoundError e) {
                return false;
            }
        }

        /** Sends a close_notify, and returns when it has left; null if there is no TLS. */
        static @Nullable ChannelFuture closeOutbound(ChannelPipeline pipeline) {
            SslHandler tls = IS_THERE ? pipeline.get(SslHandler.class) : null;
            return tls == null ? null : tls.closeOutbound();
        }
    }
}
