package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.runtime.Computations;
import dev.zmtp.internal.transport.TcpAddress;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.concurrent.Executor;
import javax.net.ssl.SSLEngine;

/**
 * Creates TLS handlers. Their handshakes are computed on an executor, like those of CURVE, because a flood of
 * handshakes must leave the event loop to the existing connections. The class is loaded only if there is a context.
 */
final class TlsHandlers {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.TlsHandlers");

    private TlsHandlers() {}

    static ChannelHandler client(SslContext context, Channel channel, TcpAddress to, ZMTPConfig codec) {
        Executor executor = Computations.counted(channel, codec.handshakeExecutor());
        SslHandler made = context.newHandler(channel.alloc(), to.host(), to.port(), executor);
        return limited(quiet(context, made, executor), codec);
    }

    static ChannelHandler server(SslContext context, Channel channel, ZMTPConfig codec) {
        Executor executor = Computations.counted(channel, codec.handshakeExecutor());
        return limited(quiet(context, context.newHandler(channel.alloc(), executor), executor), codec);
    }

    /** Sets the time that the whole handshake may take, in place of Netty's 10 s. */
    private static SslHandler limited(SslHandler handler, ZMTPConfig codec) {
        handler.setHandshakeTimeoutMillis(codec.handshakeTimeout().toMillis());
        return handler;
    }

    /** Returns a quiet handler in place of that of Netty's own contexts. Other contexts can have set theirs up. */
    private static SslHandler quiet(SslContext context, SslHandler made, Executor executor) {
        boolean isNettys = context.getClass().getPackageName().equals(SslContext.class.getPackageName());
        return isNettys ? new Quiet(made.engine(), executor) : made;
    }

    /**
     * A handler that reports nothing after its channel has ended. The computation of a handshake can fail then, and
     * Netty would log each failure with its stack trace and the bytes of the peer.
     */
    private static final class Quiet extends SslHandler {

        Quiet(SSLEngine engine, Executor executor) {
            super(engine, executor);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) throws Exception {
            if (ctx.isRemoved()) {
                logger.debug("{} failed after its end", ctx.channel(), cause);
            } else {
                super.exceptionCaught(ctx, cause);
            }
        }
    }
}
