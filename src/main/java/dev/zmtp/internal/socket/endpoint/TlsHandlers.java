package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.internal.runtime.Computations;
import dev.zmtp.internal.transport.TcpAddress;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.handler.ssl.SslContext;
import java.util.concurrent.Executor;

/**
 * Makes the handlers of TLS. Their handshakes are computed on an executor, as those of CURVE are: a flood of them must
 * leave the event loop to the connections that are there. The class is loaded only if there is a context.
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
