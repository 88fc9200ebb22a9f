package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.security.ZMTPMechanism;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.AttributeKey;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Speaks ZMTP on the channel whose pipeline it is added to, so that the channel talks to any ZeroMQ peer. ZMTP 3.1 is
 * RFC 37, 3.0 is RFC 23, 2.0 is RFC 15, and 1.0 is RFC 13.
 *
 * <pre>{@code
 *   ch.pipeline().addLast(ZMTPCodec.of(ROUTER), new MyHandler());
 * }</pre>
 *
 * <p><b>Inbound.</b> The codec fires a {@link ZMTPHandshakeSuccess} or a {@link ZMTPHandshakeFailure} as a user event,
 * exactly once. After a success it fires a {@code ZMTPMessage} for each message, which the receiver must release; or
 * whatever the {@link ZMTPDecoder} of the config makes. On PUB and XPUB channels it fires a {@code ZMTPSubscription},
 * on RADIO channels a {@code ZMTPMembership}. Messages to sockets that only send (PUB, PUSH, RADIO, SCATTER) are
 * dropped. PINGs are answered. All that was read is fired before {@code channelInactive}; the channel's
 * {@code closeFuture} may be complete by then.
 *
 * <p><b>Outbound.</b> Write {@code ZMTPMessage}, {@code ZMTPSubscription} (SUB, XSUB), {@code ZMTPMembership} (DISH),
 * or what the {@link ZMTPEncoder} of the config takes; it is released exactly once. An empty {@code ByteBuf} is a
 * barrier: nothing is sent for it, and its promise completes when everything written before was sent. Anything else
 * fails its promise. Writes before the end of the handshake are held, count towards the channel's writability, and
 * leave in order after it. Messages are encoded at once and leave at a flush, or when a batch of 64 KiB is full. Each
 * promise completes once, with the transport's own result. Writes from other threads count towards writability at once,
 * by the channel's {@code MessageSizeEstimator}: the codec puts {@link ZMTPSizeEstimator} in place of Netty's default.
 * If the channel writes before the codec is added, that is too late: set it on the bootstrap.
 *
 * <p><b>Failure.</b> Whatever the peer does wrong ends the same way: during the handshake with the failure event, later
 * with a {@link ZMTPException} to {@code exceptionCaught}. Then the channel is closed, what was held is released, its
 * promises fail, and further input is discarded. The end of the peer's input is the end of the connection. If it comes
 * in the middle of a frame or a message, that is a failure with the code {@code CLOSED}, unless the transport has said
 * why. An end is reported once, however many writes with void promises fail.
 *
 * <p><b>Place.</b> One instance per channel. Add it before the channel's first read if you can, as only then are the
 * transport's reads paced. Put it after handlers that turn bytes into bytes, such as {@code SslHandler}, and add it
 * after them: on an active channel it greets the peer as soon as it is added. Everything runs on the channel's event
 * loop, and nothing blocks it; a codec that is added with another executor is refused. Removing the codec passes unread
 * bytes to the next handler, and messages already written are still sent. Removing it while a message is partly written
 * closes the connection.
 *
 * <p><b>Logs.</b> A failed handshake that no handler takes notice of at info, once a second at most; changes of phase
 * at debug; each frame at trace, by the logger {@code dev.zmtp.codec.FrameLog}.
 */
public final class ZMTPCodec extends ChannelDuplexHandler {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(ZMTPCodec.class);

    /**
     * The peer's real address behind a proxy. Set it once the proxy has sent it; exception messages, {@link
     * ZMTPSession#peerAddress()} and authentication requests then have it in place of the channel's remote address.
     */
    public static final AttributeKey<SocketAddress> PEER_ADDRESS =
            AttributeKey.valueOf(ZMTPCodec.class, "PEER_ADDRESS");

    private final ZMTPConfig config;
    private final ZMTPSession session;
    private final HandshakeController handshake;
    private Phase phase = new NewPhase(this);

    private ChannelHandlerContext ctx;
    private HeldWrites held;
    private ReadDemand demand;
    private ReadLoop reads;
    private EndReports reports;
    private PeerPolicy policy;
    private ConnectionMemory memory;

    private @Nullable ZMTPMechanism mechanism;

    /** The codec is being added to an active channel, and the handlers after it may not be there yet. */
    private boolean addingToActiveChannel;

    /** The codec was removed from an open connection, whose bytes belong to the next handler now. */
    private boolean removedWhileOpen;

    private ZMTPCodec(ZMTPSession session) {
        this.session = session;
        this.config = session.config();
        this.handshake = new HandshakeController(this, session);
    }

    /** Returns a codec for a socket of this type, with the defaults of {@link ZMTPConfig}. */
    public static ZMTPCodec of(ZMTPSocketType socketType) {
        return from(ZMTPConfig.of(socketType));
    }

    /** Returns a codec with this config. */
    public static ZMTPCodec from(ZMTPConfig config) {
        return from(ZMTPSession.from(config));
    }

    /** Returns a codec for this session, which must not have been used by another. */
    public static ZMTPCodec from(ZMTPSession session) {
        return new ZMTPCodec(Objects.requireNonNull(session, "session"));
    }

    /** Returns a builder with the defaults of {@link ZMTPConfig}; a socket type must be given to it. */
    public static Builder builder() {
        return new Builder();
    }

    /** The session of this codec's connection; usable once its handshake is complete. */
    public ZMTPSession session() {
        return session;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        session.bind(ctx);
        this.ctx = ctx;
        ZMTPSizeEstimator.install(ctx.channel().config());
        held = new HeldWrites(ctx);
        demand = new ReadDemand(ctx, session);
        memory = new ConnectionMemory(this, ctx);
        reads = new ReadLoop(this, ctx, demand);
        reports = new EndReports(ctx, session, memory);
        try {
            reads.pace();
            ZMTPMechanism made = config.mechanism().create(new MechanismContext(this));
            mechanism = made;
            policy = new PeerPolicy(config, made);
        } catch (Throwable e) { // from user code
            enter(new ClosedPhase(this, e), e);
            session.fail(e);
            // When the pipeline has reported the exception, and the handlers after this one are there.
            ctx.executor().execute(() -> {
                UnheardFailure.fire(ctx.pipeline(), new ZMTPHandshakeFailure(session, e, true));
                ctx.close();
            });
            throw e;
        }
        if (ctx.channel().isActive()) {
            addingToActiveChannel = true;
            phase.connected();
            addingToActiveChannel = false;
        } else if (!ctx.channel().isOpen()) {
            // No event will come. Later, when the handlers after this one are there to get ours.
            ctx.executor().execute(() -> closed("as the channel was closed"));
        }
    }

    @Override
    public void connect(
            ChannelHandlerContext ctx,
            SocketAddress remoteAddress,
            SocketAddress localAddress,
            ChannelPromise promise) {
        ctx.connect(remoteAddress, localAddress, phase.connecting(remoteAddress, promise));
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        phase.connected();
        ctx.fireChannelActive();
    }

    /** The channel is active: begins the handshake. */
    void start() {
        session.connectedTo(ctx.channel().remoteAddress());
        reads.guarded(handshake::begin);
        if (addingToActiveChannel) {
            // A transport may answer at once, and the handlers after this one would not get that.
            ctx.executor().execute(demand::readOn);
        } else {
            demand.readOn();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        reads.finish();
        String unfinished = phase.unfinishedInput();
        closed("by the peer");
        reports.cutOff(unfinished);
        ctx.fireChannelInactive();
    }

    @Override
    public void channelUnregistered(ChannelHandlerContext ctx) {
        if (!ctx.channel().isOpen()) {
            closed("before the channel was connected"); // and so never inactive
        }
        ctx.fireChannelUnregistered();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        if (this.ctx != ctx) {
            return;
        }
        reads.removed();
        if (isClosed()) {
            return;
        }
        Throwable fatal = phase.whyRemovalIsFatal();
        if (fatal != null) {
            fail(fatal);
            return;
        }
        removedWhileOpen = true;
        closed("as the codec was removed");
        reads.passOn();
        demand.removed();
    }

    /** The connection is over without a failure. The channel is already closed, or the caller closes it. */
    void closed(String how) {
        if (!session.isHandshakeDone()) {
            fail(handshake.failures().ended(how, phase), false);
        } else if (!isClosed()) {
            enter(new ClosedPhase(this, null));
            if (!held.isEmpty()) {
                held.fail(new ClosedChannelException());
            }
        }
    }

    /** Enters {@code next}: the one place where a phase follows another. */
    void enter(Phase next) {
        enter(next, null);
    }

    private void enter(Phase next, @Nullable Throwable cause) {
        Phase old = phase;
        logger.debug("{} {} -> {}", ctx.channel(), old, next);
        old.setCurrent(false);
        next.setCurrent(true);
        phase = next;
        old.end(cause);
        next.begin();
    }

    /** The connection is over for the codec. */
    void connectionEnded() {
        handshake.cancelTimer();
        memory.close();
        if (!removedWhileOpen) {
            reads.clear();
        }
        if (mechanism != null) {
            UserCode.closeQuietly(ctx.channel(), mechanism::close);
            mechanism = null;
        }
    }

    /** Ends the connection for {@code cause}. Every failure ends this way. */
    void fail(Throwable cause) {
        fail(cause, true);
    }

    private void fail(Throwable cause, boolean close) {
        if (isClosed()) {
            return;
        }
        enter(new ClosedPhase(this, cause), cause);
        held.fail(cause);
        boolean inHandshake = !session.isHandshakeDone();
        if (inHandshake) {
            session.fail(cause);
        }
        if (addingToActiveChannel) {
            // When the handlers after it are there.
            ctx.executor().execute(() -> reports.failure(cause, inHandshake, close));
        } else {
            reports.failure(cause, inHandshake, close);
        }
    }

    // Inbound

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (msg instanceof ByteBuf in) {
            reads.read(in);
        } else {
            ctx.fireChannelRead(msg);
        }
    }

    /** Lets the mechanism go on. On this executor. */
    void resumeMechanism() {
        reads.step(() -> phase.resume());
    }

    /** Fires what the peer sent for the application. */
    void fireMessage(Object message) {
        demand.messageFired();
        ctx.fireChannelRead(message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        reads.readComplete();
    }

    /** The bytes of memory that the codec keeps for the peer, but for what the transport has. */
    long kept() {
        return phase.kept() + reads.queuedBytes() + held.size();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
        if (evt instanceof ChannelInputShutdownEvent || TlsPeer.isCloseNotify(evt)) {
            reads.endInput(evt);
        } else {
            ctx.fireUserEventTriggered(evt);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        phase.exceptionCaught(cause);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        phase.writabilityChanged();
        memory.count();
        ctx.fireChannelWritabilityChanged();
    }

    // Outbound

    @Override
    public void read(ChannelHandlerContext ctx) {
        if (demand.readIssued()) {
            phase.readResumed();
        }
        if (demand.isPaused()) {
            demand.deferRead();
        } else if (!reads.readFromQueue()) {
            ctx.read();
        }
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
        phase.write(msg, promise);
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
        phase.flush();
    }

    @Override
    public void disconnect(ChannelHandlerContext ctx, ChannelPromise promise) {
        closed(phase.describeUserClose());
        ctx.disconnect(promise);
    }

    /**
     * Ends the connection before the channel is closed: a user who refuses a peer must get neither what is left of the
     * read in which it came, nor what arrives while a handler before us, such as an SslHandler, takes its time to
     * close.
     */
    @Override
    public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
        closed(phase.describeUserClose());
        ctx.close(promise);
    }

    // For the phases

    ChannelHandlerContext ctx() {
        return ctx;
    }

    ZMTPConfig config() {
        return config;
    }

    HeldWrites held() {
        return held;
    }

    ConnectionMemory memory() {
        return memory;
    }

    ReadDemand demand() {
        return demand;
    }

    ReadLoop reads() {
        return reads;
    }

    /** The mechanism of the connection, which is not over yet. */
    ZMTPMechanism mechanism() {
        return Objects.requireNonNull(mechanism);
    }

    HandshakeController handshake() {
        return handshake;
    }

    EndReports reports() {
        return reports;
    }

    PeerPolicy policy() {
        return policy;
    }

    Phase phase() {
        return phase;
    }

    boolean isClosed() {
        return phase instanceof ClosedPhase;
    }

    boolean wasRemoved() {
        return removedWhileOpen;
    }

    /** Collects the settings of a codec, which {@link ZMTPConfig.Builder} lists. Not thread safe. */
    public static final class Builder extends ZMTPSettings<Builder> {
        private Builder() {
            super(new ConfigValues());
        }

        /**
         * Returns a codec with these settings.
         *
         * @throws NullPointerException if no socket type was
         * @throws IllegalArgumentException if the protocol is too old for the socket type or the mechanism, or the
         *     mechanism and the authenticator do not go together
         */
        public ZMTPCodec build() {
            return from(ZMTPConfig.of(this));
        }
    }
}
