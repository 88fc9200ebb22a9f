package dev.zmtp.internal.websocket;

import dev.zmtp.ZMTPException;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.memory.MemoryAccount;
import dev.zmtp.internal.runtime.ConsistentDeque;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.CombinedChannelDuplexHandler;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.UnsupportedMessageTypeException;
import io.netty.util.AttributeKey;
import io.netty.util.ReferenceCountUtil;
import java.nio.channels.ClosedChannelException;
import java.util.Objects;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Handler that stands before a {@code ZMTPCodec} and speaks ZWS 2.0, which is ZMTP in frames of WebSocket (RFC 45).
 *
 * <p>For the codec, a peer with a mechanism looks like a peer of ZMTP 3.0, and a peer without a mechanism like a peer
 * of ZMTP 2.0. Neither side sends a greeting, so the codec's greeting is discarded, and the codec receives a greeting
 * that fits. The limits of the config and the memory budget hold as they do over tcp.
 *
 * <p>The handler of the upgrade stands before the translator. Until {@link #start} is called, nothing is sent. The
 * upgrade handler then passes on bytes that follow the upgrade.
 *
 * <p>A close by this side sends a close frame after the written frames, and waits for the close frame of the peer for
 * up to a second. A close frame of the peer is answered, and the channel is closed. A bad frame is answered with a
 * close frame and reported to the codec as a {@link ZMTPException}.
 */
public final class ZwsTranslator extends ChannelDuplexHandler {

    /** Attribute that is true if the peer cannot announce its socket type, because there is no mechanism. */
    public static final AttributeKey<Boolean> TYPE_UNKNOWN =
            AttributeKey.valueOf("dev.zmtp.internal.websocket.ZwsTranslator#TYPE_UNKNOWN");

    private enum State {
        /** The upgrade is not complete. */
        WAITING,
        OPEN,
        /** This side has sent a close frame, and waits for the peer's. */
        CLOSING,
        /** As CLOSING, but another handler limits the time of the peer, and then closes. */
        PARTING,
        /** Nothing more is read or written. The channel is closed, or will be as soon as the close frame is written. */
        ENDED
    }

    private final WebSocketRole role;
    private final ZMTPSession session;
    private final MemoryAccount.Owner memory;
    private final IntSupplier keys;
    private final CodecReports reports;
    private final CloseTimer timer = new CloseTimer();

    /** Buffers that a callback has made the transport read during the translation of a buffer. */
    private final ConsistentDeque<ByteBuf> waiting = new ConsistentDeque<>();

    private final LateWrites late = new LateWrites();

    private State state = State.WAITING;

    /** True while a buffer is translated. */
    private boolean busy;

    /** True if the peer has ended its input, so that it cannot answer a close frame. */
    private boolean inputEnded;

    /** True if the codec expects frames without a seal after its handshake. */
    private boolean plain;

    // Set when the translator is added to a pipeline
    private ChannelHandlerContext ctx;
    private ZwsPings pings;
    private ZwsEncoder encoder;

    // Null before the start
    private @Nullable FrameRules rules;
    private @Nullable ZwsDecoder decoder;

    /**
     * A translator for a connection.
     *
     * @param session the session of the codec that follows in the pipeline
     */
    public ZwsTranslator(WebSocketRole role, ZMTPSession session) {
        this(role, session, MaskingKeys::next);
    }

    /** @param keys source of the keys with which a client masks its frames */
    ZwsTranslator(WebSocketRole role, ZMTPSession session, IntSupplier keys) {
        this.role = role;
        this.session = session;
        this.reports = new CodecReports(session);
        this.memory = (MemoryAccount.Owner) session; // as each session that a codec accepts
        this.keys = keys;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        this.ctx = ctx;
        pings = new ZwsPings(() -> plain && session.handshakeFuture().isSuccess());
        encoder = new ZwsEncoder(ctx.alloc(), role, keys, pings);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        end();
        late.fail();
    }

    /**
     * Starts the translation, because the upgrade is complete. The next bytes that the peer sends and receives are
     * frames. Does nothing if the channel was closed in the meantime. Call it on the channel's event loop, when the
     * answer of a server was written or the answer for a client was read.
     *
     * @throws IllegalStateException if the translation was started before
     */
    public void start(ZwsProtocol protocol) {
        if (state == State.ENDED) {
            return;
        }
        if (state != State.WAITING) {
            throw new IllegalStateException("the translation was already started");
        }
        state = State.OPEN;
        String mechanism = protocol.mechanism();
        plain = mechanism != null && !FrameRules.mayBeSealed(protocol);
        FrameRules itsRules = new FrameRules(role, protocol, session.config(), session.handshakeFuture()::isSuccess);
        rules = itsRules;
        decoder = new ZwsDecoder(
                ctx.alloc(), itsRules, pings, new FragmentedMessage(ctx.alloc(), account()), new FromPeer());
        if (mechanism == null) {
            ctx.channel().attr(TYPE_UNKNOWN).set(true);
        }
        ByteBuf greeting = InventedGreeting.of(ctx.alloc(), protocol, session.config());
        encoder.start(greeting.readableBytes());
        ctx.fireChannelRead(greeting);
        ctx.fireChannelReadComplete();
    }

    /**
     * {@linkplain #start Starts} the translation in the place of an HTTP codec and the handler of the upgrade, which
     * leave the pipeline.
     */
    void startInsteadOf(CombinedChannelDuplexHandler<?, ?> http, ChannelHandler upgrade, ZwsProtocol protocol) {
        http.removeOutboundHandler(); // the codec writes as soon as it starts
        start(protocol);
        ChannelPipeline pipeline = ctx.pipeline();
        pipeline.remove(upgrade);
        pipeline.remove(http); // which passes on what it has read after the upgrade
    }

    private MemoryAccount account() {
        boolean accepted = ctx.channel().parent() != null;
        return new MemoryAccount(memory, accepted, ctx.executor(), this::fail);
    }

    // Inbound

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (!(message instanceof ByteBuf bytes)) {
            ctx.fireChannelRead(message);
            return;
        }
        if (busy) {
            waiting.add(bytes);
            return;
        }
        busy = true;
        try {
            for (ByteBuf next = bytes; next != null; next = waiting.poll()) {
                decode(next);
            }
        } finally {
            busy = false;
        }
    }

    /** Takes ownership of {@code bytes}. */
    private void decode(ByteBuf bytes) {
        ZwsDecoder frames = decoder;
        if (frames == null || state == State.ENDED) {
            bytes.release();
            return;
        }
        try {
            frames.decode(owned(bytes));
        } catch (Throwable e) {
            fail(e);
            return;
        }
        if (frames.isCollecting()) {
            reports.activity(ctx);
        }
    }

    /** Returns a buffer of a single part that can be overwritten, the same if possible. */
    private ByteBuf owned(ByteBuf bytes) {
        if (!bytes.isReadOnly() && bytes.refCnt() == 1 && bytes.nioBufferCount() == 1) {
            return bytes;
        }
        try {
            return ctx.alloc().buffer(bytes.readableBytes()).writeBytes(bytes);
        } finally {
            bytes.release();
        }
    }

    /** Recipient of bytes and events from the decoder. */
    private final class FromPeer implements ZwsDecoder.Output {

        @Override
        public void zmtp(ByteBuf bytes) {
            ctx.fireChannelRead(bytes);
        }

        @Override
        public void closed(byte[] payload) {
            closedByPeer(payload);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        ctx.fireChannelReadComplete();
        answerPing();
        if (state == State.CLOSING) {
            readOn();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        ctx.fireChannelWritabilityChanged();
        answerPing();
    }

    /** Answers the last PING of the peer, unless the codec does. */
    private void answerPing() {
        if (state == State.OPEN && !encoder.isMidFrame() && ctx.channel().isWritable()) {
            byte[] payload = pings.takeAnswer();
            if (payload != null) {
                ctx.writeAndFlush(encoder.control(WebSocketFrames.PONG, payload));
            }
        }
    }

    // Outbound

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        if (!(message instanceof ByteBuf bytes)) {
            ReferenceCountUtil.release(message);
            promise.tryFailure(new UnsupportedMessageTypeException(message, ByteBuf.class));
            return;
        }
        switch (state) {
            case WAITING -> {
                encoder.skip(bytes);
                promise.trySuccess();
            }
            case OPEN -> ctx.write(encoder.encode(bytes), promise);
            case CLOSING, PARTING -> refuse(bytes, promise);
            case ENDED -> {
                if (!ctx.channel().isActive() || !late.add(bytes, promise)) {
                    closeNow();
                    refuse(bytes, promise);
                }
            }
        }
    }

    private static void refuse(ByteBuf bytes, ChannelPromise promise) {
        bytes.release();
        promise.tryFailure(new ClosedChannelException());
    }

    // The end

    /** Sends the close frame of the peer back. */
    private void closedByPeer(byte[] payload) {
        if (state == State.OPEN) {
            ctx.fireChannelReadComplete(); // handlers flush their answers, and nothing may follow a close frame
        }
        switch (state) {
            case OPEN -> {
                boolean refused = !session.handshakeFuture().isSuccess();
                ZMTPException failure = ClosePayload.failure(payload, refused); // a bad payload fails the connection
                closeAfter(payload, failure == null ? null : reports.withPeer(failure));
            }
            case CLOSING, PARTING -> closeNow();
            case WAITING, ENDED -> {} // a handler has closed the channel
        }
    }

    @Override
    public void disconnect(ChannelHandlerContext ctx, ChannelPromise promise) {
        close(ctx, promise);
    }

    @Override
    public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
        if (state == State.WAITING || !ctx.channel().isActive()) {
            end();
            ctx.close(promise);
            return;
        }
        ctx.channel().closeFuture().addListener(closed -> promise.trySuccess());
        if (state == State.PARTING) {
            closeNow(); // the time of the peer is over
            return;
        }
        if (state != State.OPEN) {
            return; // the channel is being closed
        }
        if (!ctx.channel().isWritable()) {
            closeNow(); // a close frame would keep the queued bytes for as long as the peer does not read
            return;
        }
        byte[] status = ClosePayload.of(WebSocketFrames.NORMAL);
        if (inputEnded) {
            closeAfter(status, null);
            return;
        }
        state = State.CLOSING;
        ChannelFuture written = writeClose(status);
        timer.start(ctx);
        written.addListener(sent -> {
            if (!sent.isSuccess()) {
                closeNow();
            }
        });
        readOn();
    }

    /**
     * Sends a close frame after the written frames, and returns a future that completes when it is sent. The caller
     * then shuts down the output and limits the time that the peer has.
     */
    public ChannelFuture closeOutput() {
        if (state != State.OPEN) {
            return ctx.newSucceededFuture();
        }
        state = State.PARTING;
        return writeClose(ClosePayload.of(WebSocketFrames.NORMAL));
    }

    /** Ends the connection because of {@code failure}, which is reported to the codec. */
    private void fail(Throwable failure) {
        if (state == State.OPEN) {
            ctx.fireChannelReadComplete(); // handlers flush their answers, and nothing may follow a close frame
        }
        if (state != State.OPEN) {
            closeNow(); // a user that has closed the channel is not interested in the rest
            return;
        }
        closeAfter(ClosePayload.of(Objects.requireNonNull(rules).statusFor(failure)), reports.withPeer(failure));
    }

    /** Sends a close frame, reports {@code failure} if there is one, and closes the channel when the frame is sent. */
    private void closeAfter(byte[] payload, @Nullable Throwable failure) {
        state = State.ENDED;
        if (decoder != null) {
            decoder.close();
        }
        ChannelFuture written = writeClose(payload);
        timer.start(ctx);
        if (failure != null) {
            reports.failure(ctx, failure); // before the close, which would look like the reason
        }
        written.addListener(sent -> closeNow());
    }

    /** Writes a close frame, except within another frame. The connection is then torn. */
    private ChannelFuture writeClose(byte[] payload) {
        if (encoder.isMidFrame()) {
            return ctx.newFailedFuture(new ClosedChannelException());
        }
        try {
            return ctx.writeAndFlush(encoder.control(WebSocketFrames.CLOSE, payload));
        } catch (Throwable e) { // the allocator is out of memory
            return ctx.newFailedFuture(e);
        }
    }

    private void closeNow() {
        state = State.ENDED;
        timer.cancel();
        ctx.close();
    }

    /** Reads the close frame of the peer although the user may have stopped reading. */
    private void readOn() {
        if (!ctx.channel().config().isAutoRead()) {
            ctx.read();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            inputEnded = true;
            if (state == State.CLOSING || state == State.PARTING) {
                closeNow();
            }
        }
        ctx.fireUserEventTriggered(event);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        String unfinished = state == State.OPEN && decoder != null ? decoder.unfinished() : null;
        end();
        if (unfinished != null) {
            String message = "connection with " + session.peerAddress() + " ended in the middle of a " + unfinished;
            reports.failure(ctx, new ZMTPException(ZMTPException.Code.CLOSED, message));
        }
        ctx.fireChannelInactive();
        late.fail();
    }

    private void end() {
        state = State.ENDED;
        timer.cancel();
        if (decoder != null) {
            decoder.close();
        }
        if (!busy) {
            waiting.forEach(ByteBuf::release);
            waiting.clear();
        }
    }
}
