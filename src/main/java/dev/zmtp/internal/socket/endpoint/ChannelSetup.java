package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.capture.ZMTPCapture;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeLimiter;
import dev.zmtp.internal.runtime.RateLimitedLog;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.PeerHandler;
import dev.zmtp.internal.socket.peer.Pings;
import dev.zmtp.internal.transport.Endpoint;
import dev.zmtp.internal.transport.TcpAddress;
import dev.zmtp.internal.transport.Transport;
import dev.zmtp.internal.transport.WebSocketAddress;
import dev.zmtp.internal.websocket.ClientUpgrade;
import dev.zmtp.internal.websocket.ServerUpgrade;
import dev.zmtp.websocket.ZMTPWebSocket;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPipelineException;
import io.netty.handler.ssl.SslContext;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The handlers of a socket's channels, which are the user's handlers, TLS, the codec, and the {@link PeerHandler}. */
final class ChannelSetup {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.ChannelSetup");

    private final SocketContext context;
    private final RateLimitedLog log;
    private final Pings pings;
    private final KeepAlive keepAlive;

    /** What a handler has thrown when it was added, during a setup on the event loop. */
    private @Nullable Throwable thrownByHandler;

    ChannelSetup(SocketContext context) {
        this.context = context;
        this.log = context.warnings(logger);
        this.pings = new Pings();
        this.keepAlive = new KeepAlive(context.config(), context.config().codec());
    }

    Pings pings() {
        return pings;
    }

    ChannelHandler accepted(AbstractEndpoint endpoint, Supplier<PeerHandler> handlers) {
        return new Accepting(endpoint, handlers);
    }

    Connecting connecting(AbstractEndpoint endpoint, PeerHandler handler) {
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

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable failure) {
            thrownByHandler = failure;
        }
    }

    /** The handlers of a connection attempt. */
    final class Connecting extends ChannelInitializer<Channel> {
        private final AbstractEndpoint endpoint;
        private final PeerHandler handler;

        /** Null unless a handler could not be created. */
        private @Nullable Throwable failure;

        Connecting(AbstractEndpoint endpoint, PeerHandler handler) {
            this.endpoint = endpoint;
            this.handler = handler;
        }

        @Override
        protected void initChannel(Channel ch) {
            failure = init(ch, endpoint, handler, true);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable failure) {
            thrownByHandler = failure;
        }

        /** Returns whether a handler could not be created, so that another address is of no use. */
        boolean hasFailed() {
            return failure != null;
        }

        /** Returns the cause of a failed attempt. Netty reports only that its channel was closed. */
        @Nullable
        Throwable cause(@Nullable Throwable reported) {
            return failure == null ? reported : failure;
        }
    }

    /**
     * Adds all handlers. If user code fails, such as a supplier of TLS contexts, the connection ends with that failure,
     * which is returned.
     */
    private @Nullable Throwable init(Channel ch, AbstractEndpoint at, PeerHandler handler, boolean connecting) {
        Object peerKey = connecting ? at.endpoint.toString() : Pings.keyOf(ch);
        // A peer over WebSocket answers PINGs, so it has not hung up because of one.
        boolean isWebSocket = at.endpoint.address() instanceof WebSocketAddress;
        thrownByHandler = null;
        Throwable failure;
        ZMTPConfig codec = context.config().codec();
        try {
            ZMTPConfig wanted = at.codec(codec);
            (wanted == codec ? keepAlive : new KeepAlive(context.config(), wanted)).set(ch);
            codec = isWebSocket ? wanted : pings.config(peerKey, wanted);
            addOthers(ch, at, codec, connecting);
            failure = cause(thrownByHandler);
        } catch (Throwable e) {
            failure = e;
        }
        ch.pipeline().addLast(handler.at(isWebSocket ? null : pings.connection(peerKey, codec)));
        if (failure != null) {
            log.log(at.text(), "could not set up a connection", failure);
            handler.fail(failure);
        }
        return failure;
    }

    /** Returns what a handler has thrown, for which Netty reports its name as well. */
    private static @Nullable Throwable cause(@Nullable Throwable reported) {
        return reported instanceof ChannelPipelineException && reported.getCause() != null
                ? reported.getCause()
                : reported;
    }

    /** Adds the handlers before the {@link PeerHandler}. */
    private void addOthers(Channel ch, AbstractEndpoint at, ZMTPConfig codec, boolean connecting) {
        Endpoint endpoint = at.endpoint;
        ChannelPipeline pipeline = ch.pipeline();
        context.config().pipelineInitializer().accept(at, pipeline);
        ChannelHandler tls = tls(ch, endpoint, codec, connecting);
        if (tls != null) {
            pipeline.addLast(tls);
        }
        ZMTPCapture capture = context.config().capture();
        if (endpoint.transport().carriesMessages()) {
            pipeline.addLast(new InprocHandler(context.type(), codec.localIdentity(), capture != null));
        } else {
            addCodec(pipeline, endpoint, ZMTPCodec.from(codec), connecting);
        }
        if (capture != null) {
            pipeline.addLast(capture.handler(at.text()));
        }
    }

    private void addCodec(ChannelPipeline pipeline, Endpoint endpoint, ZMTPCodec codec, boolean connecting) {
        if (endpoint.address() instanceof WebSocketAddress address) {
            ZMTPWebSocket settings = context.config().webSocket();
            if (connecting) {
                ClientUpgrade.addTo(pipeline, address.hostHeader(), address.path(), settings, codec.session());
            } else {
                ServerUpgrade.addTo(pipeline, address.path(), settings, codec.session());
            }
        }
        pipeline.addLast(codec);
    }

    private @Nullable ChannelHandler tls(Channel ch, Endpoint endpoint, ZMTPConfig codec, boolean connecting) {
        Transport.Address address = endpoint.address();
        TcpAddress tcp = address.tcp();
        if (tcp == null || (address instanceof WebSocketAddress ws && !ws.isSecure())) {
            return null;
        }
        SslContext context = tls(!connecting);
        if (context == null) {
            return null;
        }
        return connecting ? TlsHandlers.client(context, ch, tcp, codec) : TlsHandlers.server(context, ch, codec);
    }

    private @Nullable SslContext tls(boolean ofServer) {
        return ofServer ? context.config().tlsServer() : context.config().tlsClient();
    }

    /** Checks that there is a TLS context for this endpoint if it needs one, and HTTP for a WebSocket. */
    void check(Endpoint endpoint, boolean bind) {
        boolean isNeeded;
        if (endpoint.address() instanceof WebSocketAddress address) {
            WebSocketSupport.check(endpoint, bind, context.config());
            isNeeded = address.isSecure();
        } else {
            isNeeded = endpoint.address().tcp() != null && tls(!bind) != null;
        }
        if (isNeeded && tls(bind) == null) {
            throw new IllegalArgumentException("tls: no " + (bind ? "server" : "client") + " SslContext, needed to "
                    + (bind ? "bind" : "connect"));
        }
    }
}
