package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.mechanism.ZMTPMechanism.FrameCipher;
import dev.zmtp.wire.Command;
import dev.zmtp.wire.FrameReader;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.EncoderException;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Messages and commands in both directions, from the end of the handshake to the end of the connection (RFC 13 and 15,
 * "Framing"; RFC 23 and 37, "Traffic").
 *
 * <p>Octets become frames in the {@link FrameReader}; a command is answered or fired here, between the frames of a message
 * too, and a message frame goes to the {@link MessageSink}. What is written goes to the {@link OutboundBatch}.
 */
final class TrafficPhase extends Phase {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(TrafficPhase.class);

    /** What a frame behind the first of its message counts beside its octets: about what it costs to keep. */
    private static final int FRAME_OVERHEAD = 64;

    /** The first octet of a subscription that travels as a message. */
    private static final int SUBSCRIBE = 1;

    private static final int CANCEL = 0;

    private final ZMTPVersion version;
    private final boolean unversionedPeer;
    private final @Nullable FrameCipher cipher;
    private final ZMTPConfig config;
    private final ZMTPSocketType type;
    private final FrameReader reader;
    private final OutboundBatch batch;
    private final Heartbeat heartbeat;

    private @Nullable MessageSink sink;
    private @Nullable ZMTPEncoder encoder;
    private final ZMTPEstimator estimator;
    private final ZMTPWriter writer;

    private boolean inBody;
    private boolean bodyWhole;

    /** Whether the frame that was judged last is the only one of its message. */
    private boolean onlyFrame;

    private int messageFrames;
    private long messageLength;
    private long activity;

    private boolean writing;
    private boolean unflushed;

    /** The context of the newest PING that is not answered yet. One is enough: an old PONG tells the peer nothing new. */
    private @Nullable ByteBuf unansweredPing;

    /**
     * Traffic in {@code version}.
     *
     * @param unversionedPeer whether the peer sent no greeting, so that it cannot subscribe and gets everything
     * @param cipher how frames travel, or null if they travel as they are
     */
    TrafficPhase(ZMTPCodec codec, ZMTPVersion version, boolean unversionedPeer, @Nullable FrameCipher cipher) {
        super(codec);
        this.version = version;
        this.unversionedPeer = unversionedPeer;
        this.cipher = cipher;
        this.config = codec.config();
        this.type = config.socketType();
        this.reader = new FrameReader(version);
        this.batch = new OutboundBatch(codec, version, cipher);
        this.heartbeat = new Heartbeat(this);
        this.estimator = new ZMTPEstimator(version);
        this.writer = new ZMTPWriter(version);
    }

    ZMTPVersion version() {
        return version;
    }

    /** Changes with every read and every frame: as long as it does, the peer is alive. */
    long activity() {
        return activity;
    }

    @Override
    void begin() {
        ZMTPEncoder.Factory encoders = config.encoder();
        if (encoders != null) {
            encoder = encoders.encoder(codec.session());
        }
        sink = newSink();
    }

    private MessageSink newSink() {
        if (type.isSendOnly()) {
            return new Discard(reader);
        }
        ZMTPDecoder.Factory decoders = config.decoder();
        return decoders == null
                ? new MessageAssembler(codec, reader)
                : new DecoderSink(codec, reader, decoders.decoder(codec.session()));
    }

    /** Called when the handshake event was fired: from here on messages may be. */
    void announced() {
        heartbeat.start();
        if (unversionedPeer && type.isPublisher()) {
            codec.fireMessage(ZMTPSubscription.subscribe(""));
        }
    }

    // Inbound

    @Override
    void read(ByteBuf in) {
        activity++;
        while (isCurrent()) {
            if (!inBody) {
                if (!reader.readHeader(in)) {
                    return;
                }
                header();
            } else if (!body(in)) {
                return;
            } else {
                inBody = false;
            }
        }
    }

    private void header() {
        activity++;
        inBody = true;
        if (cipher != null) {
            bodyWhole = true;
            judgeSealed(cipher);
            return;
        }
        judge(reader.flags(), reader.length());
        bodyWhole = reader.isCommand() || maySubscribe(reader.length());
        if (!bodyWhole) {
            sink().header((int) reader.length(), reader.hasMore());
        }
    }

    private boolean body(ByteBuf in) {
        if (!bodyWhole) {
            return sink().body(in);
        }
        ByteBuf body = reader.readBody(in, codec.ctx().alloc());
        if (body == null) {
            return false;
        }
        try {
            if (cipher == null) {
                frame(reader.flags(), body);
            } else {
                int flags = cipher.open(body);
                judge(flags, body.readableBytes());
                frame(flags, body);
            }
        } finally {
            body.release();
        }
        return true;
    }

    private MessageSink sink() {
        return Objects.requireNonNull(sink);
    }

    /** Judges the frame around a sealed one: it holds no more than the larger of the two that it may hold. */
    private void judgeSealed(FrameCipher cipher) {
        if (reader.isCommand() || reader.hasMore()) {
            throw ZMTPException.malformed("frame flags", reader.flags(), "0 on an encrypted frame");
        }
        int limit = Math.max(config.maxFrameLength(), config.maxCommandLength());
        long sealed = limit + (long) cipher.sealedLength(0);
        if (reader.length() > sealed) {
            throw ZMTPException.tooLarge("encrypted frame length", reader.length(), sealed);
        }
    }

    /** A limit is judged here and nowhere else, when the header is there and nothing of the body was awaited. */
    private void judge(int flags, long length) {
        if ((flags & ZMTPVersion.COMMAND) != 0) {
            if (length > config.maxCommandLength()) {
                throw ZMTPException.tooLarge("command length", length, config.maxCommandLength());
            }
            return;
        }
        if (length > config.maxFrameLength()) {
            throw ZMTPException.tooLarge("frame length", length, config.maxFrameLength());
        }
        // An attacker's endless empty frames cost memory too: their number and their overhead are bounded.
        messageLength += messageFrames == 0 ? length : length + FRAME_OVERHEAD;
        if (++messageFrames > config.maxMessageFrames()) {
            throw ZMTPException.tooLarge("message frames", messageFrames, config.maxMessageFrames());
        }
        if (messageLength > config.maxMessageLength()) {
            throw ZMTPException.tooLarge("message length", messageLength, config.maxMessageLength());
        }
        if ((flags & ZMTPVersion.MORE) == 0) {
            onlyFrame = messageFrames == 1;
            messageFrames = 0;
            messageLength = 0;
        } else {
            onlyFrame = false;
        }
    }

    /** Peers of any version may send a subscription as a message of one frame, and those before 3.1 have no other way. */
    private boolean maySubscribe(long length) {
        return type.isPublisher() && onlyFrame && length > 0 && length <= config.maxCommandLength();
    }

    private void frame(int flags, ByteBuf body) {
        if ((flags & ZMTPVersion.COMMAND) != 0) {
            command(body);
            return;
        }
        if (maySubscribe(body.readableBytes())) {
            int first = body.getByte(body.readerIndex());
            if (first == SUBSCRIBE || first == CANCEL) {
                body.skipBytes(1);
                codec.fireMessage(
                        first == SUBSCRIBE ? ZMTPSubscription.subscribe(body) : ZMTPSubscription.cancel(body));
                return;
            }
        }
        sink().whole(body, (flags & ZMTPVersion.MORE) != 0);
    }

    private void command(ByteBuf body) {
        Command command = Command.read(body);
        switch (command) {
            case PING -> {
                heartbeat.pinged(Command.readTtl(body));
                answer(body);
            }
            case PONG -> {} // a sign of life, as everything is
            case SUBSCRIBE, CANCEL -> {
                if (type.isPublisher()) {
                    codec.fireMessage(
                            command == Command.SUBSCRIBE
                                    ? ZMTPSubscription.subscribe(body)
                                    : ZMTPSubscription.cancel(body));
                }
            }
            case JOIN, LEAVE -> membership(command, body);
            // A later version may have more commands. READY and ERROR mean nothing any more, whatever their data is.
            case READY, ERROR, UNKNOWN ->
                logger.debug("{} ignored a command: {}", codec.ctx().channel(), command);
        }
    }

    private void membership(Command command, ByteBuf group) {
        if (group.readableBytes() > ZMTPMembership.MAX_GROUP_LENGTH) {
            throw ZMTPException.tooLarge("group length", group.readableBytes(), ZMTPMembership.MAX_GROUP_LENGTH);
        }
        if (type == ZMTPSocketType.RADIO) {
            codec.fireMessage(command == Command.JOIN ? ZMTPMembership.join(group) : ZMTPMembership.leave(group));
        }
    }

    /** A peer that sends PINGs and reads nothing must not make us queue PONGs: while unwritable, the newest waits alone. */
    private void answer(ByteBuf context) {
        if (context.isReadable()) {
            byte[] octets = new byte[context.readableBytes()];
            context.readBytes(octets);
            unansweredPing = Unpooled.wrappedBuffer(octets);
        } else {
            unansweredPing = Unpooled.EMPTY_BUFFER;
        }
        answerPing();
    }

    /** Answers the PING that waits, if there is one and an answer can leave now; returns whether it has. */
    private boolean answerPing() {
        ByteBuf context = unansweredPing;
        if (context == null || writing || !codec.ctx().channel().isWritable()) {
            return false;
        }
        unansweredPing = null;
        command(Command.PONG, context);
        return true;
    }

    @Override
    void readComplete() {
        if (unflushed) {
            flush();
        }
    }

    @Override
    void writabilityChanged() {
        answerPing();
        readComplete();
    }

    // Outbound

    @Override
    void write(Object message, ChannelPromise promise) {
        if (writing) {
            codec.held().add(message, promise);
            return;
        }
        writing = true;
        try {
            encode(message, promise);
            if (!codec.held().isEmpty()) {
                writeHeld();
            }
        } finally {
            writing = false;
        }
        // What a callback asked for while it had to wait: the read in which it did may be complete by now.
        if (isCurrent()) {
            boolean flush = codec.held().takeFlush();
            if (answerPing() || flush) {
                flush();
            }
        }
    }

    /** Writes what was held, in order, and what callbacks write meanwhile. */
    void drain() {
        writing = true;
        try {
            writeHeld();
        } finally {
            writing = false;
        }
    }

    private void writeHeld() {
        boolean more = true;
        while (more && isCurrent()) {
            more = codec.held().writeNext(this);
        }
    }

    /** Encodes one write. For {@link HeldWrites}; users' writes go through {@link #write}. */
    void encode(Object message, ChannelPromise promise) {
        if (message instanceof ZMTPMessage frames && encoder == null) {
            batch.message(frames, promise);
        } else if (message instanceof ZMTPSubscription subscription) {
            subscribe(subscription, promise);
        } else if (message instanceof ZMTPMembership membership) {
            join(membership, promise);
        } else if (encoder != null) {
            batch.encode(message, encoder, estimator, writer, promise);
        } else {
            ReferenceCountUtil.release(message);
            promise.tryFailure(new EncoderException("message: a "
                    + message.getClass().getName() + " (expected: a ZMTPMessage, or a codec with an encoder for it)"));
        }
    }

    private void subscribe(ZMTPSubscription subscription, ChannelPromise promise) {
        if (!type.isSubscriber()) {
            promise.tryFailure(new EncoderException("subscription: on a " + type + " (expected: on a SUB or XSUB)"));
            return;
        }
        if (version == ZMTPVersion.ZMTP31) {
            Command command = subscription.isSubscribe() ? Command.SUBSCRIBE : Command.CANCEL;
            batch.value(ZMTPVersion.COMMAND, command.body(codec.ctx().alloc(), subscription.topic()), promise);
        } else {
            ByteBuf topic = subscription.topic();
            ByteBuf body = codec.ctx().alloc().buffer(1 + topic.readableBytes());
            body.writeByte(subscription.isSubscribe() ? SUBSCRIBE : CANCEL).writeBytes(topic);
            batch.value(0, body, promise);
        }
    }

    private void join(ZMTPMembership membership, ChannelPromise promise) {
        if (type != ZMTPSocketType.DISH) {
            promise.tryFailure(new EncoderException("membership: on a " + type + " (expected: on a DISH)"));
            return;
        }
        Command command = membership.isJoin() ? Command.JOIN : Command.LEAVE;
        batch.value(ZMTPVersion.COMMAND, command.body(codec.ctx().alloc(), membership.group()), promise);
    }

    private void command(Command command, ByteBuf data) {
        send(command.body(codec.ctx().alloc(), data));
    }

    /** Sends a command of our own. It leaves at the end of the read, or with the next flush if that is sooner. */
    private void send(ByteBuf command) {
        unflushed = true;
        batch.value(ZMTPVersion.COMMAND, command, codec.ctx().newPromise());
    }

    /** Sends a PING at once, unless the peer does not even read. */
    void ping(int ttlDeciseconds) {
        if (!writing && codec.ctx().channel().isWritable()) {
            send(Command.ping(codec.ctx().alloc(), ttlDeciseconds));
            flush();
        }
    }

    @Override
    void flush() {
        if (writing) {
            codec.held().flush(); // from a callback: behind what is being written, not in the middle of it
            return;
        }
        unflushed = false;
        batch.flush();
    }

    @Override
    void closing() {
        batch.seal();
    }

    @Override
    void end(@Nullable Throwable cause) {
        heartbeat.stop();
        reader.close();
        closeQuietly(sink == null ? null : sink::close);
        closeQuietly(encoder == null ? null : encoder::close);
        if (cause != null) {
            batch.fail(cause);
        } else {
            batch.end();
        }
    }

    /** What the user's encoder or decoder throws here must not keep the connection from its end. */
    private void closeQuietly(@Nullable Runnable close) {
        if (close == null) {
            return;
        }
        try {
            close.run();
        } catch (Throwable e) {
            logger.warn("{} an encoder or decoder failed to close", codec.ctx().channel(), e);
        }
    }
}
