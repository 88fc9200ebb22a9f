package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.runtime.Computations;
import dev.zmtp.internal.transport.TcpAddress;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import java.util.concurrent.Executor;

/**
 * Creates TLS handlers. Their handshakes are computed on an executor, like those of CURVE, because a flood of
 * handshakes must leave the event loop to the existing connections. The class is loaded only if there is a context.
 */
final class TlsHandlers {

    private TlsHandlers() {}

    static ChannelHandler client(SslContext context, Channel channel, TcpAddress to, ZMTPConfig codec) {
        return limited(context.newHandler(channel.alloc(), to.host(), to.port(), executor(channel, codec)), codec);
    }

    static ChannelHandler server(SslContext context, Channel channel, ZMTPConfig codec) {
        return limited(context.newHandler(channel.alloc(), executor(channel, codec)), codec);
    }

    /**
     * Returns an executor that computes as long as the connection is open. The failure of a computation after the end
     * would reach no handler, and Netty would log it with its stack trace and with bytes of the peer.
     */
    private static Executor executor(Channel channel, ZMTPConfig codec) {
        Executor counted = Computations.counted(channel, codec.handshakeExecutor());
        return task -> counted.execute(() -> {
            if (channel.isOpen()) {
                task.run();
            }
        });
    }

    /** Sets the time that the whole handshake may take, in place of Netty's 10 s. */
    private static SslHandler limited(SslHandler handler, ZMTPConfig codec) {
        handler.setHandshakeTimeoutMillis(codec.handshakeTimeout().toMillis());
        return handler;
    }
}
