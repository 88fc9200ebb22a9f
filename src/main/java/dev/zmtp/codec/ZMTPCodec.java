package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.admission.PeerAddress;
import dev.zmtp.internal.connection.Connection;
import dev.zmtp.internal.connection.Session;
import dev.zmtp.internal.connection.TlsPeer;
import dev.zmtp.internal.handshake.HandshakeController;
import dev.zmtp.internal.runtime.InputEvent;
import dev.zmtp.internal.runtime.VirtualClock;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.AttributeKey;
import java.net.SocketAddress;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Handler that speaks ZMTP, so that its channel can communicate with any ZeroMQ peer. ZMTP 3.1 is RFC 37, 3.0 is RFC
 * 23, 2.0 is RFC 15, and 1.0 is RFC 13.
 *
 * <pre>{@code
 *   ch.pipeline().addLast(ZMTPCodec.of(ROUTER), new MyHandler());
 * }</pre>
 *
 * <p><b>Inbound.</b> The codec fires a {@link ZMTPHandshakeSuccess} or a {@link ZMTPHandshakeFailure} as a user event,
 * exactly once. After a success it fires a {@code ZMTPMessage} for each message, which the receiver must release, or
 * the objects that the {@link ZMTPDecoder} of the config creates. On PUB and XPUB channels it fires a
 * {@code ZMTPSubscription}, on RADIO channels a {@code ZMTPMembership}. Messages to sockets that only send (PUB, PUSH,
 * RADIO, SCATTER) are dropped. PINGs are answered. All received messages are fired before {@code channelInactive}. The
 * channel's {@code closeFuture} can be complete by then.
 *
 * <p><b>Outbound.</b> Write a {@code ZMTPMessage}, a {@code ZMTPSubscription} (SUB, XSUB), a {@code ZMTPMembership}
 * (DISH), or an object that the {@link ZMTPEncoder} of the config accepts. The written object is released exactly once.
 * An empty {@code ByteBuf} is a barrier for which nothing is sent, and its promise completes when all earlier writes
 * were sent. The promise of any other object fails.
 *
 * <p>Writes before the end of the handshake are held, count towards the channel's writability, and leave in order
 * when the handshake is complete. Messages are encoded at once and leave at a flush. Each promise completes once,
 * with the transport's own result. Writes from other threads count towards writability at once, with the size
 * reported by the channel's {@code MessageSizeEstimator}. The codec replaces Netty's default estimator with {@link
 * ZMTPSizeEstimator}. If the channel is written to before the codec is added, the replacement is too late, so set
 * the estimator on the bootstrap.
 *
 * <p><b>Failure.</b> An error caused by the peer is reported by the failure event during the handshake, and by a
 * {@link ZMTPException} to {@code exceptionCaught} afterwards. The channel is then closed, held writes are released,
 * their promises fail, and further input is discarded. The end of the peer's input ends the connection. An end in the
 * middle of a frame or a message is a failure with the code {@code CLOSED}, unless the transport has reported the
 * reason. The end of a connection is reported once, even if many writes with void promises fail.
 *
 * <p><b>Position in the pipeline.</b> Each channel needs its own instance. If possible, add it before the channel's
 * first read, because only then are the transport's reads paced. Add it after handlers that transform bytes, such as
 * {@code SslHandler}, both in the pipeline and in time, because on an active channel the codec sends its greeting as
 * soon as it is added. Everything runs on the channel's event loop without blocking it. A codec that is added with
 * another executor is refused, and a channel with a codec cannot be deregistered from its event loop. Removing the
 * codec passes unread bytes to the next handler, and messages already written are still sent. Removing it while a
 * message is partly written closes the connection.
 *
 * <p><b>Logs.</b> A failed handshake that no handler reacts to is logged at info, at most once a second. Changes of
 * phase are logged at debug, and each frame at trace by the logger {@code dev.zmtp.codec.FrameLog}.
 */
public final class ZMTPCodec extends ChannelDuplexHandler {

    /**
     * Attribute for the peer's real address behind a proxy. Set it once the proxy has sent the address. Exception
     * messages, {@link ZMTPSession#peerAddress()} and authentication requests then contain this address instead of the
     * channel's remote address.
     */
    public static final AttributeKey<SocketAddress> PEER_ADDRESS = PeerAddress.KEY;

    private final Session session;

    /** Created when the codec is added to a pipeline. */
    private Connection connection;

    private ZMTPCodec(Session session) {
        this.session = session;
    }

    /** Returns a codec for a socket of this type, with the defaults of {@link ZMTPConfig}. */
    public static ZMTPCodec of(ZMTPSocketType socketType) {
        return from(ZMTPConfig.of(socketType));
    }

    /** Returns a codec with this config. */
    public static ZMTPCodec from(ZMTPConfig config) {
        return from(ZMTPSession.from(config));
    }

    /**
     * Returns a codec for this session, which must not have been used by another codec.
     *
     * @throws IllegalArgumentException if the session was not created by {@link ZMTPSession#from}
     */
    public static ZMTPCodec from(ZMTPSession session) {
        if (Objects.requireNonNull(session, "session") instanceof Session known) {
            return new ZMTPCodec(known);
        }
        throw new IllegalArgumentException(
                "session: " + session.getClass().getName() + " (expected: one that ZMTPSession.from has made)");
    }

    /** Returns a builder with the defaults of {@link ZMTPConfig}. The socket type must be set. */
    public static Builder builder() {
        return new Builder();
    }

    /** Returns the session of this codec's connection, which is usable once its handshake is complete. */
    public ZMTPSession session() {
        return session;
    }

    /** Returns the session of the codec in {@code pipeline}, or null if there is no codec. */
    static @Nullable Session sessionIn(ChannelPipeline pipeline) {
        ZMTPCodec codec = pipeline.get(ZMTPCodec.class);
        return codec == null ? null : codec.session;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        session.bind(ctx);
        ZMTPSizeEstimator.install(ctx.channel().config());
        LongSupplier clock = ctx.channel().eventLoop() instanceof VirtualClock virtual
                ? virtual::currentNanos
                : session.config().nanoTime();
        connection = new Connection(ctx, session, clock, HandshakeController::new);
        connection.begin();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        if (connection != null) { // otherwise the session was another's, and the codec was not really added
            connection.removed();
        }
    }

    @Override
    public void connect(
            ChannelHandlerContext ctx,
            SocketAddress remoteAddress,
            SocketAddress localAddress,
            ChannelPromise promise) {
        ctx.connect(remoteAddress, localAddress, connection.phase().connecting(remoteAddress, promise));
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        connection.phase().connected();
        ctx.fireChannelActive();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        connection.inactive();
        ctx.fireChannelInactive();
    }

    @Override
    public void channelUnregistered(ChannelHandlerContext ctx) {
        if (!ctx.channel().isOpen()) {
            connection.closed("before the channel was connected"); // and so never inactive
        }
        ctx.fireChannelUnregistered();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (msg instanceof ByteBuf in) {
            connection.reads().read(in);
        } else {
            ctx.fireChannelRead(msg);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        connection.reads().readComplete();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
        if (evt instanceof InputEvent.Activity) {
            connection.phase().heard();
        } else if (evt instanceof ChannelInputShutdownEvent
                || evt instanceof InputEvent.Failure
                || TlsPeer.isCloseNotify(evt)) {
            connection.reads().endInput(evt);
        } else {
            ctx.fireUserEventTriggered(evt);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        connection.reads().failed(cause);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        connection.phase().writabilityChanged();
        connection.memory().count();
        ctx.fireChannelWritabilityChanged();
    }

    @Override
    public void read(ChannelHandlerContext ctx) {
        connection.read();
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
        connection.phase().write(msg, promise); // straight to the phase: the JIT inlines only so deep
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
        connection.phase().flush();
    }

    @Override
    public void disconnect(ChannelHandlerContext ctx, ChannelPromise promise) {
        connection.closedByUser();
        ctx.disconnect(promise);
    }

    /** Refuses, because buffers and timers of the connection belong to the event loop. */
    @Override
    public void deregister(ChannelHandlerContext ctx, ChannelPromise promise) {
        promise.tryFailure(new UnsupportedOperationException(
                "deregister: not with a ZMTPCodec (expected: one event loop until the channel is closed)"));
    }

    /**
     * Ends the connection before the channel is closed. A user that refuses a peer must receive neither the rest of the
     * current read, nor data that arrives while an earlier handler, such as an SslHandler, is still closing.
     */
    @Override
    public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
        connection.closedByUser();
        ctx.close(promise);
    }

    /** Builder of a codec, with the settings listed by {@link ZMTPConfig.Builder}. Not thread safe. */
    public static final class Builder extends ZMTPSettings<Builder> {
        private Builder() {
            super(new ConfigValues());
        }

        /**
         * Returns a codec with these settings.
         *
         * @throws NullPointerException if the socket type is not set
         * @throws IllegalArgumentException if the protocol is too old for the socket type or the mechanism, or if the
         *     mechanism and the authenticator are incompatible
         */
        public ZMTPCodec build() {
            return from(ZMTPConfig.of(this));
        }
    }
}
