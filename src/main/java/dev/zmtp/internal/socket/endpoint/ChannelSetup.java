package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.capture.ZMTPCapture;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeLimiter;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.PeerHandler;
import dev.zmtp.internal.socket.peer.Pings;
import dev.zmtp.internal.transport.Endpoint;
import dev.zmtp.internal.transport.TcpAddress;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.ssl.SslContext;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The handlers of a socket's channels, which are the user's handlers, TLS, the codec, and the {@link PeerHandler}. */
final class ChannelSetup {

    private final SocketContext context;

    private final Pings pings;
    private final KeepAlive keepAlive;

    ChannelSetup(SocketContext context) {
        this.context = context;
        this.pings = new Pings(context.config().codec());
        this.keepAlive = new KeepAlive(context.config());
    }

    Pings pings() {
        return pings;
    }

    ChannelHandler accepted(AbstractEndpoint endpoint, Supplier<PeerHandler> handlers) {
        return new Accepting(endpoint, handlers);
    }

    ChannelHandler connecting(AbstractEndpoint endpoint, PeerHandler handler) {
        return new Connecting(endpoint, handler);
    }

    @Sharable
    private final class Accepting extends ChannelInitializer<Channel> {
        private final AbstractEndpoint endpoint;
        private final Supplier<PeerHandler> handlers;

        Accepting(AbstractEndpoint endpoint, Supplier<PeerHandler> handlers) {
            this.endpoint = endpoint;
            this.handlers = handlers;
        }

        @Override
        protected void initChannel(Channel ch) {
            // For all accepted connections, because strangers that send nothing must not keep others out.
            ZMTPHandshakeLimiter limiter = context.config().handshakeLimiter();
            if (limiter != null && !endpoint.endpoint.transport().carriesMessages()) {
                ch.pipeline().addLast(limiter);
            }
            init(ch, endpoint, handlers.get(), false);
        }
    }

    private final class Connecting extends ChannelInitializer<Channel> {
        private final AbstractEndpoint endpoint;
        private final PeerHandler handler;

        Connecting(AbstractEndpoint endpoint, PeerHandler handler) {
            this.endpoint = endpoint;
            this.handler = handler;
        }

        @Override
        protected void initChannel(Channel ch) {
            init(ch, endpoint, handler, true);
        }
    }

    private void init(Channel ch, AbstractEndpoint at, PeerHandler handler, boolean connecting) {
        keepAlive.set(ch);
        Endpoint endpoint = at.endpoint;
        ChannelPipeline pipeline = ch.pipeline();
        context.config().pipelineInitializer().accept(at, pipeline);
        ChannelHandler tls = tls(ch, at, connecting);
        if (tls != null) {
            pipeline.addLast(tls);
        }
        Object peerKey = connecting ? endpoint.toString() : Pings.keyOf(ch);
        ZMTPCapture capture = context.config().capture();
        pipeline.addLast(
                endpoint.transport().carriesMessages()
                        ? new InprocHandler(
                                context.type(),
                                at.codec(context.config().codec()).localIdentity(),
                                capture != null)
                        : ZMTPCodec.from(at.codec(pings.config(peerKey))));
        if (capture != null) {
            pipeline.addLast(capture.handler(at.text()));
        }
        pipeline.addLast(handler.at(peerKey, pings));
    }

    private @Nullable ChannelHandler tls(Channel ch, AbstractEndpoint at, boolean connecting) {
        if (!(at.endpoint.address() instanceof TcpAddress tcp)) {
            return null;
        }
        SslContext context = tls(!connecting);
        if (context == null) {
            return null;
        }
        Executor executor = at.codec(this.context.config().codec()).handshakeExecutor();
        return connecting ? TlsHandlers.client(context, ch, tcp, executor) : TlsHandlers.server(context, ch, executor);
    }

    private @Nullable SslContext tls(boolean ofServer) {
        return ofServer ? context.config().tlsServer() : context.config().tlsClient();
    }

    /** Checks that there is a TLS context for this endpoint if there is any TLS context. */
    void check(Endpoint endpoint, boolean bind) {
        if (endpoint.address() instanceof TcpAddress && tls(bind) == null && tls(!bind) != null) {
            throw new IllegalArgumentException("tls: no " + (bind ? "server" : "client") + " SslContext, needed to "
                    + (bind ? "bind" : "connect"));
        }
    }
}
