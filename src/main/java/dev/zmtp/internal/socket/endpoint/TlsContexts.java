package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.internal.transport.TcpAddress;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandler;
import io.netty.handler.ssl.SslContext;
import org.jspecify.annotations.Nullable;

/** The TLS contexts of the user. The class is loaded only if there are any. */
final class TlsContexts {

    private final @Nullable SslContext client;
    private final @Nullable SslContext server;

    private TlsContexts(@Nullable SslContext client, @Nullable SslContext server) {
        this.client = client;
        this.server = server;
    }

    /** Returns the contexts; null if there are none. */
    static @Nullable TlsContexts of(@Nullable SslContext client, @Nullable SslContext server) {
        return client == null && server == null ? null : new TlsContexts(client, server);
    }

    boolean hasClient() {
        return client != null;
    }

    boolean hasServer() {
        return server != null;
    }

    @Nullable
    ChannelHandler client(ByteBufAllocator alloc, TcpAddress to) {
        return client == null ? null : client.newHandler(alloc, to.host(), to.port());
    }

    @Nullable
    ChannelHandler server(ByteBufAllocator alloc) {
        return server == null ? null : server.newHandler(alloc);
    }
}
