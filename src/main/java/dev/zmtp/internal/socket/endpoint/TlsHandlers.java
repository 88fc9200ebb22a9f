package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.internal.runtime.Computations;
import dev.zmtp.internal.transport.TcpAddress;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.handler.ssl.SslContext;
import java.util.concurrent.Executor;

/**
 * Creates TLS handlers. Their handshakes are computed on an executor, like those of CURVE, because a flood of
 * handshakes must leave the event loop to the existing connections. The class is loaded only if there is a context.
 */
final class TlsHandlers {

    private TlsHandlers() {}

    static ChannelHandler client(SslContext context, Channel channel, TcpAddress to, Executor executor) {
        return context.newHandler(channel.alloc(), to.host(), to.port(), Computations.counted(channel, executor));
    }

    static ChannelHandler server(SslContext context, Channel channel, Executor executor) {
        return context.newHandler(channel.alloc(), Computations.counted(channel, executor));
    }
}
