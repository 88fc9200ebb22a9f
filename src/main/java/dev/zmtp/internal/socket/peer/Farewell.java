package dev.zmtp.internal.socket.peer;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.internal.runtime.AbruptClose;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.websocket.ZwsTranslator;
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
 * The end of a connection that is ended by this side. If a connection is closed while unread bytes are in the kernel,
 * the kernel resets the connection and discards data that was written but not delivered. Therefore only the output is
 * shut down, after everything has been written. Data that the peer sends from then on is read and dropped, until the
 * peer has read everything and closes its side. A peer that takes too long is not waited for.
 */
final class Farewell {

    /** Time that the peer has if no linger applies, in nanoseconds. */
    static final long PATIENCE = TimeUnit.SECONDS.toNanos(3);

    private final SocketContext context;
    private final ChannelHandlerContext ctx;
    private @Nullable ScheduledFuture<?> timer;

    Farewell(SocketContext context, ChannelHandlerContext ctx) {
        this.context = context;
        this.ctx = ctx;
    }

    /** Sets the time that the peer has from now on. */
    void within(long nanos) {
        end();
        timer = context.schedule(() -> none(ctx), nanos);
    }

    /** Ends the connection because of a failure, although the peer might not read. */
    static void none(PeerHandler connection, Throwable cause) {
        connection.fail(cause);
        AbruptClose.of(connection.channel());
    }

    /** Ends the connection of a peer that is not waited for. */
    static void none(ChannelHandlerContext ctx) {
        ctx.close();
        AbruptClose.of(ctx.channel());
    }

    /** Shuts down the output after everything written so far. */
    void begin() {
        ctx.channel().config().setAutoRead(true); // the peer might have to write before it reads
        // An empty buffer is not sent. Its promise completes when all earlier writes are complete.
        ctx.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> {
            if (written.isSuccess() && ctx.channel() instanceof DuplexChannel duplex) {
                shutDownOutput(duplex);
            } else {
                ctx.close(); // a channel that is not duplex delivers earlier writes even after its end
            }
        });
    }

    private void shutDownOutput(DuplexChannel channel) {
        ChannelPipeline pipeline = ctx.pipeline();
        if (pipeline.get(ZMTPCodec.class) != null) {
            pipeline.remove(
                    ZMTPCodec.class); // it would send PINGs, answer the PINGs of the peer, and decode dropped data
        }
        ZwsTranslator webSocket = pipeline.get(ZwsTranslator.class);
        if (webSocket == null) {
            endOutput(channel);
        } else {
            webSocket.closeOutput().addListener(sent -> endOutput(channel));
        }
    }

    private void endOutput(DuplexChannel channel) {
        ChannelFuture last = Tls.closeOutbound(ctx.pipeline());
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

    /** Stops waiting for the peer. */
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

        /** Sends a close_notify, and returns a future that completes when it has been sent; null if there is no TLS. */
        static @Nullable ChannelFuture closeOutbound(ChannelPipeline pipeline) {
            SslHandler tls = IS_THERE ? pipeline.get(SslHandler.class) : null;
            return tls == null ? null : tls.closeOutbound();
        }
    }
}
