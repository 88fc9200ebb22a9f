package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.security.ZMTPMechanism;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.EncoderException;
import io.netty.util.AttributeKey;
import io.netty.util.concurrent.Future;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Speaks ZMTP on the channel whose pipeline it is added to, so that the channel talks to any ZeroMQ peer.
 *
 * <pre>{@code
 *   ch.pipeline().addLast(ZMTPCodec.of(ROUTER), new MyHandler());
 * }</pre>
 *
 * <p><b>Inbound.</b> It fires a {@link ZMTPHandshakeSuccess} or a {@link ZMTPHandshakeFailure} as a user event, exactly once,
 * and after a success a {@code ZMTPMessage} for each message, which is the receiver's to release; or whatever the
 * {@link ZMTPDecoder} of the config makes. On PUB and XPUB channels it fires a {@code ZMTPSubscription}, on RADIO channels a
 * {@code ZMTPMembership}. Messages to sockets that only send (PUB, PUSH, RADIO, SCATTER) are dropped. PINGs are answered.
 *
 * <p><b>Outbound.</b> Write {@code ZMTPMessage}, {@code ZMTPSubscription} (SUB, XSUB), {@code ZMTPMembership} (DISH), or what
 * the {@link ZMTPEncoder} of the config takes; it is released exactly once. Anything else fails its promise. Writes before
 * the end of the handshake are held, count towards the channel's writability, and leave in order behind it. Messages are
 * encoded at once and leave at a flush, or when a batch of 64 KiB is full. Each promise completes once, with the
 * transport's own result. Writes of other threads count towards writability at once, by the channel's
 * {@code MessageSizeEstimator}: the codec puts one in place of Netty's default that knows {@code ZMTPMessage}.
 *
 * <p><b>Failure.</b> Whatever the peer does wrong ends the same way: during the handshake with the failure event, later with
 * a {@link ZMTPException} to {@code exceptionCaught}; then the channel is closed, what was held is released, its promises
 * fail, and further input is discarded. The end of the peer's input is the end of the connection.
 *
 * <p><b>Place.</b> One instance for each channel. It may be added before or after the channel is active, and stands behind
 * handlers that turn octets into octets, such as {@code SslHandler}. Everything runs on the executor of its context, the
 * channel's event loop unless the handler was added with another; nothing blocks it. It stays in the pipeline as long
 * as the channel is open, so that {@code pipeline.get(ZMTPCodec.class).session()} works until then. Whoever removes it
 * gets the octets that it has not read, and what was written before still leaves; only who removes it in the midst of a
 * message, from a callback of the transport, ends the connection, as nothing could follow half a message.
 */
public final class ZMTPCodec extends ChannelDuplexHandler {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(ZMTPCodec.class);

    /**
     * Who the peer is, if the channel's own remote address is that of a proxy: set it when that has told. It then stands in
     * messages and in what the authenticator is asked.
     */
    public static final AttributeKey<SocketAddress> PEER_ADDRESS =
            AttributeKey.valueOf(ZMTPCodec.class, "PEER_ADDRESS");

    private final ZMTPConfig config;
    private final ZMTPSession session;

    // Set when the handler is added
    private ChannelHandlerContext ctx;
    private HeldWrites held;
    private Phase phase;

    private @Nullable ZMTPMechanism mechanism;
    private @Nullable Future<?> deadline;
    private boolean started;

    /** Whether the codec is being added to an active channel, and those behind it perhaps are not there yet. */
    private boolean adding;

    /** Who was at the other end when the connection began: a closed channel may not know. */
    private @Nullable SocketAddress peerAddress;

    /** Whether the codec was taken out of a living connection, whose octets then belong to those behind it. */
    private boolean removed;

    private boolean reading;
    private @Nullable Queue<ByteBuf> readMeanwhile;

    /** Whether someone asked for a read, as the channel does not read by itself, that has not brought a message yet. */
    private boolean demand;

    /** Whether auto-read follows a read with the next one just now. If it asks elsewhere, it was off until then. */
    private boolean readingOn;

    private ZMTPCodec(ZMTPSession session) {
        this.session = session;
        this.config = session.config();
    }

    /** Returns a codec for a socket of this type, with the defaults of {@link ZMTPConfig}. */
    public static ZMTPCodec of(ZMTPSocketType socketType) {
        return builder().socketType(socketType).build();
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

    // Life

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        session.bind(ctx);
        this.ctx = ctx;
        MessageSizes.install(ctx.channel().config());
        held = new HeldWrites(ctx);
        phase = new ClosedPhase(this, null); // until all is there: a factory of the user's may fail
        try {
            mechanism = config.mechanism().create(new MechanismContext(this));
        } catch (Throwable e) {
            session.fail(e);
            // When the pipeline has told of the exception, and those behind are there.
            ctx.executor().execute(() -> {
                ctx.pipeline().fireUserEventTriggered(new ZMTPHandshakeFailure(session, e));
                ctx.close();
            });
            throw e;
        }
        phase = config.protocol() == ZMTPVersion.ZMTP10
                ? IdentityPhase.ofUnversionedCodec(this)
                : new GreetingPhase(this, mechanism);
        if (ctx.channel().isActive()) {
            adding = true;
            start();
            adding = false;
        } else if (!ctx.channel().isOpen()) {
            // No event will tell. Later, when the handlers behind are there to hear of it.
            ctx.executor().execute(() -> closed("as the channel was closed"));
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        start();
        ctx.fireChannelActive();
    }

    private void start() {
        if (started || session.isOver()) {
            return;
        }
        started = true;
        peerAddress = ctx.channel().remoteAddress();
        long nanos = config.handshakeTimeout().toNanos();
        if (nanos > 0) {
            deadline = ctx.executor().schedule(this::deadlinePassed, nanos, TimeUnit.NANOSECONDS);
        }
        logger.debug("{} starts: {}", ctx.channel(), phase);
        guarded(phase::begin);
        if (adding) {
            ctx.executor().execute(this::readOn); // a transport may answer at once, and those behind would not hear it
        } else {
            readOn();
        }
    }

    private void deadlinePassed() {
        if (!session.isOver()) {
            fail(new ZMTPException(
                    ZMTPException.Code.HANDSHAKE_TIMEOUT,
                    "handshake with " + peer() + ": not complete in " + phase + " (expected: within "
                            + config.handshakeTimeout().toMillis() + " ms)"));
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        closed("by " + peer());
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
        if (this.ctx != ctx || phase instanceof ClosedPhase) {
            return;
        }
        if (phase instanceof TrafficPhase traffic && traffic.isInMidMessage()) {
            // Whatever is written next, by whomever, the peer would take for the rest of the message.
            fail(new EncoderException(
                    "codec: removed behind half a message (expected: before a message, or behind it)"));
            return;
        }
        removed = true;
        closed("as the codec was removed");
    }

    /** The connection is over without anyone's fault, or before it could be. Whoever ended it closes the channel. */
    private void closed(String how) {
        if (!session.isOver()) {
            fail(new ZMTPException(ZMTPException.Code.CLOSED, "handshake ended " + how + " in " + phase), false);
        } else if (!(phase instanceof ClosedPhase)) {
            enter(new ClosedPhase(this, null));
            held.fail(new ClosedChannelException());
        }
    }

    /** Enters {@code next}: the one place where a phase follows another. */
    void enter(Phase next) {
        enter(next, null);
    }

    private void enter(Phase next, @Nullable Throwable cause) {
        Phase old = phase;
        logger.debug("{} {} -> {}", ctx.channel(), old, next);
        phase = next;
        old.end(cause);
        if (next instanceof ClosedPhase) {
            closeMechanism();
        }
        next.begin();
    }

    private void closeMechanism() {
        if (deadline != null) {
            deadline.cancel(false);
        }
        if (mechanism != null) {
            quietly(mechanism::close);
            mechanism = null;
        }
    }

    /** Lets a part of the user's close. What that throws must not keep the connection from its end. */
    void quietly(Runnable close) {
        try {
            close.run();
        } catch (Throwable e) {
            logger.warn("{} a part of the codec failed to close", ctx.channel(), e);
        }
    }

    /** Whether the codec was taken out of a living connection. */
    boolean isRemoved() {
        return removed;
    }

    /** Whether the connection is over for the codec. */
    boolean isClosed() {
        return phase instanceof ClosedPhase;
    }

    boolean isIn(Phase asked) {
        return phase == asked;
    }

    /** The handshake is complete: {@code traffic} begins, behind what was held and the event that says so. */
    void succeed(ZMTPHandshake handshake, TrafficPhase traffic) {
        session.agree(handshake);
        enter(traffic);
        traffic.drain();
        if (held.takeFlush() && isIn(traffic)) {
            traffic.flush();
        }
        if (!isIn(traffic)) {
            return; // what was held could not be sent, or a callback of it closed the channel or removed the codec
        }
        if (deadline != null) {
            deadline.cancel(false);
        }
        session.succeed();
        ctx.fireUserEventTriggered(new ZMTPHandshakeSuccess(session, handshake));
        if (isIn(traffic)) {
            traffic.announced();
        }
    }

    /** Ends the connection for {@code cause}. The one way in which every failure ends. */
    void fail(Throwable cause) {
        fail(cause, true);
    }

    private void fail(Throwable cause, boolean close) {
        if (phase instanceof ClosedPhase) {
            return;
        }
        enter(new ClosedPhase(this, cause), cause);
        held.fail(cause);
        boolean shakingHands = !session.isOver();
        if (shakingHands) {
            session.fail(cause);
        }
        if (adding) {
            ctx.executor().execute(() -> tell(shakingHands, cause, close)); // when those behind are there to be told
        } else {
            tell(shakingHands, cause, close);
        }
    }

    private void tell(boolean shakingHands, Throwable cause, boolean close) {
        if (shakingHands) {
            ctx.fireUserEventTriggered(new ZMTPHandshakeFailure(session, cause));
        } else {
            ctx.fireExceptionCaught(cause);
        }
        if (close) {
            ctx.close();
        }
    }

    /** Runs a step of the peer's or the mechanism's making; whatever it throws ends the connection. */
    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (Throwable e) {
            fail(asDecoderException(e));
        }
    }

    /** A fault of the peer's must say whose it is: those who log it know no more than what it says. */
    private DecoderException asDecoderException(Throwable e) {
        if (e instanceof ZMTPException fault) {
            return new ZMTPException(fault.code(), fault.getMessage() + ", peer " + peer(), fault.getCause());
        }
        return e instanceof DecoderException known ? known : new DecoderException("peer " + peer() + ": " + e, e);
    }

    void resumeMechanism() {
        if (!(phase instanceof MechanismPhase mechanisms)) {
            return;
        }
        if (reading) {
            guarded(mechanisms::advance);
            return;
        }
        reading = true; // what a callback makes the transport read comes behind the event of the handshake
        try {
            guarded(mechanisms::advance);
            consumeReadMeanwhile();
        } finally {
            reading = false;
        }
    }

    /** Octets of the handshake could not be sent, whether it goes on meanwhile or is over. */
    void sendFailed(Throwable cause) {
        if (session.isOver()) {
            writeFailed(cause, false);
        } else if (!(cause instanceof ClosedChannelException)) {
            fail(cause); // a closed channel is about to end, and its end tells more
        }
    }

    /** The transport did not take what it was given: unless it is closed anyway, the stream is torn and must end. */
    void writeFailed(Throwable cause, boolean voidPromises) {
        if (ctx.channel().isActive() && !(phase instanceof ClosedPhase)) {
            fail(cause);
            return;
        }
        if (voidPromises && !(phase instanceof ClosedPhase closed && closed.cause() != null)) {
            ctx.fireExceptionCaught(cause);
        }
        if (removed && ctx.channel().isActive()) {
            ctx.close(); // whoever has the channel now would write behind octets that are missing
        }
    }

    // Inbound

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (!(msg instanceof ByteBuf in)) {
            ctx.fireChannelRead(msg);
        } else if (reading) {
            readLater(in);
        } else {
            reading = true;
            try {
                consume(in);
                consumeReadMeanwhile();
            } finally {
                reading = false;
            }
        }
    }

    /** A callback of a message made the transport read again: its octets come behind those being read. */
    private void readLater(ByteBuf in) {
        if (readMeanwhile == null) {
            readMeanwhile = new ArrayDeque<>();
        }
        readMeanwhile.add(in);
    }

    private void consumeReadMeanwhile() {
        for (ByteBuf later = nextRead(); later != null; later = nextRead()) {
            consume(later);
        }
    }

    private @Nullable ByteBuf nextRead() {
        return readMeanwhile == null ? null : readMeanwhile.poll();
    }

    private void consume(ByteBuf in) {
        try {
            decode(in);
            if (removed && in.isReadable()) {
                ctx.fireChannelRead(in.readRetainedSlice(in.readableBytes()));
            }
        } finally {
            in.release();
        }
    }

    private void decode(ByteBuf in) {
        try {
            Phase before = null;
            while (!removed && before != phase && in.isReadable()) {
                before = phase;
                before.read(in);
            }
        } catch (Throwable e) {
            fail(asDecoderException(e));
        }
    }

    /** Fires what the peer sent for the application. */
    void fireMessage(Object message) {
        demand = false;
        ctx.fireChannelRead(message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        ctx.fireChannelReadComplete();
        phase.readComplete(); // last: mostly a handler has flushed by now, and PONGs have left with that
        readingOn = ctx.channel().config().isAutoRead();
        readOn();
    }

    /** Reads on by itself while it has nothing for those who asked, or the handshake needs it. */
    private void readOn() {
        if (!ctx.channel().config().isAutoRead() && (demand || !session.isOver())) {
            ctx.read();
        }
    }

    /** Whether the peer would be heard if it said something. */
    boolean isListening() {
        return ctx.channel().config().isAutoRead() || demand;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
        ctx.fireUserEventTriggered(evt);
        if (evt instanceof ChannelInputShutdownEvent || TlsPeer.isLastWord(evt)) {
            inputShutdown();
        }
    }

    /** ZMTP has no half-closed connections: who has said all is gone. */
    private void inputShutdown() {
        if (session.isOver()) {
            phase.flush();
            ctx.close();
        } else {
            fail(new ZMTPException(ZMTPException.Code.CLOSED, "handshake ended by " + peer() + " in " + phase));
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        // In traffic that has not been told of yet, it comes from a held write with a void promise, not from the
        // handshake.
        if (!session.isOver() && !(phase instanceof TrafficPhase)) {
            fail(cause);
        } else if (!isTold(cause)) {
            ctx.fireExceptionCaught(cause);
        }
    }

    /** An SslHandler tells one failure twice: to the writes that it holds, and, wrapped, to the pipeline. */
    private boolean isTold(Throwable cause) {
        Throwable told = phase instanceof ClosedPhase closed ? closed.cause() : null;
        return told != null && (cause == told || cause.getCause() == told);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        phase.writabilityChanged();
        ctx.fireChannelWritabilityChanged();
    }

    // Outbound

    @Override
    public void read(ChannelHandlerContext ctx) {
        boolean auto = ctx.channel().config().isAutoRead();
        if (auto ? !readingOn : !demand) {
            phase.listening();
        }
        readingOn = false;
        demand = !auto; // what auto-read asks for, it also takes back
        ctx.read();
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
        closing();
        ctx.disconnect(promise);
    }

    @Override
    public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
        closing();
        ctx.close(promise);
    }

    /**
     * The user closes: who refuses a peer so must not get what is left of the read in which it came, nor what comes while
     * a handler before us, such as an SslHandler, takes its time to close.
     */
    private void closing() {
        closed(started ? "by this side" : "before the channel was connected");
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

    /** Who is at the other end, if anyone knows. */
    @Nullable
    SocketAddress peerAddress() {
        SocketAddress told = ctx.channel().attr(PEER_ADDRESS).get();
        return told == null ? peerAddress : told;
    }

    /** Who is at the other end, as far as it is known, for messages to people. */
    String peer() {
        String address = String.valueOf(peerAddress());
        ByteBuffer identity = session.announcedIdentity();
        if (!identity.hasRemaining()) {
            return address;
        }
        return address + " with identity 0x" + ByteBufUtil.hexDump(Unpooled.wrappedBuffer(identity));
    }

    /** Checks that a peer of this type may talk to us. */
    void checkSocketType(ZMTPSocketType peer) {
        if (!config.socketType().accepts(peer)) {
            throw ZMTPException.of(
                    ZMTPException.Code.SOCKET_TYPE,
                    "socket type",
                    peer,
                    "one that " + config.socketType() + " talks to");
        }
    }

    /**
     * Checks that we may speak {@code version}. No one may strip the security of a mechanism by pretending to be old.
     */
    void checkDowngrade(ZMTPVersion version) {
        if (!config.interop() && version != config.protocol()) {
            throw ZMTPException.of(
                    ZMTPException.Code.VERSION, "version of the peer", version, config.protocol() + " without interop");
        }
        if (!version.hasCommands() && mechanism != null && !mechanism.allowsDowngrade()) {
            throw ZMTPException.of(
                    ZMTPException.Code.VERSION,
                    "version of the peer",
                    version,
                    "ZMTP30 or later with " + mechanism.name());
        }
        if (!version.hasCommands() && config.authenticator() != null) {
            throw ZMTPException.of(
                    ZMTPException.Code.VERSION,
                    "version of the peer",
                    version,
                    "ZMTP30 or later with an authenticator");
        }
        if (!version.hasCommands() && config.socketType().isDraft()) {
            throw ZMTPException.of(
                    ZMTPException.Code.VERSION,
                    "version of the peer",
                    version,
                    "ZMTP30 or later for a " + config.socketType());
        }
    }

    /** Collects the settings of a codec. Not thread safe. */
    public static final class Builder extends ZMTPSettings<Builder> {
        private Builder() {
            super(new ConfigValues());
        }

        /**
         * Returns a codec of what was set.
         *
         * @throws NullPointerException if no socket type was
         * @throws IllegalArgumentException if the protocol is too old for the socket type or the mechanism, or the mechanism
         *     and the authenticator do not go together
         */
        public ZMTPCodec build() {
            return from(ZMTPConfig.of(this));
        }
    }
}
