package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.security.ZMTPMechanism.FrameCipher;
import dev.zmtp.wire.Command;
import dev.zmtp.wire.FrameReader;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelPromise;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Messages and commands in both directions, from the end of the handshake to the end of the connection (RFC 13 and 15,
 * "Framing"; RFC 23 and 37, "Traffic").
 *
 * <p>Octets become frames in the {@link FrameReader}; a command is answered or fired here, between the frames of a message
 * too, and a message frame goes to the {@link MessageSink}. What is written goes to {@link Outbound}.
 */
final class TrafficPhase extends Phase {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(TrafficPhase.class);

    private final ZMTPVersion version;
    private final boolean unversionedPeer;
    private final @Nullable FrameCipher cipher;
    private final ZMTPConfig config;
    private final ZMTPSocketType type;
    private final FrameReader reader;

    /** Whether a message frame is just that: neither sealed, nor perhaps a subscription. */
    private final boolean mostlyMessages;

    private final MessageLimits limits;
    private final CommandRate commandRate;
    private final PeerTopics topics;
    private final Outbound outbound;
    private final Heartbeat heartbeat;

    private @Nullable MessageSink sink;

    private boolean inBody;
    private boolean bodyWhole;
    private long activity;

    private boolean unflushed;
    private boolean pingDue;

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
        this.mostlyMessages = cipher == null && !type.isPublisher();
        this.limits = new MessageLimits(config);
        this.commandRate = new CommandRate(config.maxCommandsPerSecond(), System::nanoTime);
        this.topics = new PeerTopics(config);
        this.outbound = new Outbound(this, version, cipher);
        this.heartbeat = new Heartbeat(this);
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
        outbound.begin();
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
            if (mostlyMessages && shortFrame(in)) {
                continue;
            }
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

    /** Takes a message frame at once that is there whole and has a short header, as most are; or takes nothing. */
    private boolean shortFrame(ByteBuf in) {
        int header = reader.readShortFrame(in);
        if (header < 0) {
            return false;
        }
        activity++;
        int flags = header >>> 8;
        int length = header & 0xff;
        limits.judge(flags, length);
        sink().frame(in, length, flags != 0);
        return true;
    }

    private void header() {
        activity++;
        inBody = true;
        if (cipher != null) {
            bodyWhole = true;
            limits.judgeSealed(reader.flags(), reader.length(), cipher);
            return;
        }
        limits.judge(reader.flags(), reader.length());
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
        if (cipher != null) {
            body = writable(body); // whoever made it read-only needs it as it is
        }
        try {
            if (cipher == null) {
                frame(reader.flags(), body);
            } else {
                int flags = cipher.open(body);
                limits.judge(flags, body.readableBytes());
                frame(flags, body);
            }
        } finally {
            body.release();
        }
        return true;
    }

    private ByteBuf writable(ByteBuf body) {
        if (!body.isReadOnly()) {
            return body;
        }
        try {
            return codec.ctx().alloc().buffer(body.readableBytes()).writeBytes(body);
        } finally {
            body.release();
        }
    }

    private MessageSink sink() {
        return Objects.requireNonNull(sink);
    }

    /** Peers of any version may send a subscription as a message of one frame, and those before 3.1 have no other way. */
    private boolean maySubscribe(long length) {
        return type.isPublisher() && limits.isOnlyFrame() && length > 0 && length <= config.maxCommandLength();
    }

    private void frame(int flags, ByteBuf body) {
        if ((flags & ZMTPVersion.COMMAND) != 0) {
            command(body);
            return;
        }
        if (maySubscribe(body.readableBytes())) {
            int first = body.getByte(body.readerIndex());
            if (first == Outbound.SUBSCRIBE || first == Outbound.CANCEL) {
                commandRate.count();
                subscription(first == Outbound.SUBSCRIBE, body.skipBytes(1));
                return;
            }
        }
        sink().frame(body, body.readableBytes(), (flags & ZMTPVersion.MORE) != 0);
    }

    private void command(ByteBuf body) {
        commandRate.count();
        Command command = Command.read(body);
        switch (command) {
            case PING -> {
                heartbeat.pinged(Command.readTtl(body));
                answer(body);
            }
            case PONG -> {} // a sign of life, as everything is
            case SUBSCRIBE, CANCEL -> {
                if (type.isPublisher()) {
                    subscription(command == Command.SUBSCRIBE, body);
                }
            }
            case JOIN, LEAVE -> membership(command == Command.JOIN, body);
            // A later version may have more commands. Those of the handshake mean nothing any more, whatever their data
            // is.
            case HELLO, WELCOME, INITIATE, READY, ERROR, UNKNOWN ->
                logger.debug("{} ignored a command: {}", codec.ctx().channel(), command);
        }
    }

    private void subscription(boolean subscribe, ByteBuf topic) {
        asks(subscribe, topic);
        codec.fireMessage(subscribe ? ZMTPSubscription.subscribe(topic) : ZMTPSubscription.cancel(topic));
    }

    private void membership(boolean join, ByteBuf group) {
        if (group.readableBytes() > ZMTPMembership.MAX_GROUP_LENGTH) {
            throw ZMTPException.tooLarge("group length", group.readableBytes(), ZMTPMembership.MAX_GROUP_LENGTH);
        }
        if (type == ZMTPSocketType.RADIO) {
            asks(join, group);
            codec.fireMessage(join ? ZMTPMembership.join(group) : ZMTPMembership.leave(group));
        }
    }

    private void asks(boolean wants, ByteBuf topic) {
        if (wants) {
            topics.add(topic);
        } else {
            topics.remove(topic);
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
        if (context == null || outbound.mustWait() || !codec.ctx().channel().isWritable()) {
            return false;
        }
        unansweredPing = null;
        send(Command.PONG.body(codec.ctx().alloc(), context));
        return true;
    }

    @Override
    void readComplete() {
        if (unflushed) {
            flush();
        }
    }

    @Override
    void listening() {
        activity++; // the silence until now was ours
    }

    @Override
    void writabilityChanged() {
        activity++; // the peer has taken octets
        answerPing();
        if (pingDue && codec.ctx().channel().isWritable()) {
            ping();
        }
        readComplete();
    }

    // Outbound

    @Override
    void write(Object message, ChannelPromise promise) {
        outbound.write(message, promise);
    }

    /** Does what a callback asked for during a write: the read in which it did may be complete by now. */
    void written() {
        if (isCurrent()) {
            boolean flush = codec.held().takeFlush();
            if (answerPing() || flush) {
                flush();
            }
            if (pingDue) {
                ping();
            }
        }
    }

    /** Writes what was held until now, in order, and what callbacks write meanwhile. */
    void drain() {
        outbound.drain();
    }

    /** Whether the transport has the beginning of a message whose rest is still to come. */
    boolean isInMidMessage() {
        return outbound.isInMidMessage();
    }

    /** Sends a command of our own. It leaves at the end of the read, or with the next flush if that is sooner. */
    private void send(ByteBuf command) {
        unflushed = true;
        outbound.command(command);
    }

    /** Sends a PING at once; or, behind a queue that must shrink first, as soon as the channel is writable. */
    void ping() {
        pingDue = outbound.mustWait() || !codec.ctx().channel().isWritable();
        if (!pingDue) {
            send(Command.ping(codec.ctx().alloc(), heartbeat.ttlDeciseconds()));
            flush();
        }
    }

    @Override
    void flush() {
        if (!outbound.mustWait()) {
            unflushed = false;
        }
        outbound.flush();
    }

    @Override
    void end(@Nullable Throwable cause) {
        heartbeat.stop();
        reader.close();
        if (sink != null) {
            codec.quietly(sink::close);
        }
        outbound.end(cause);
    }
}
