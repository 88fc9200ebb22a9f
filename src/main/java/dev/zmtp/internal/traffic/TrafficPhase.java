package dev.zmtp.internal.traffic;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPDecoder;
import dev.zmtp.internal.connection.Connection;
import dev.zmtp.internal.connection.FrameLog;
import dev.zmtp.internal.connection.Phase;
import dev.zmtp.internal.connection.ReadBudget;
import dev.zmtp.internal.connection.UserCode;
import dev.zmtp.internal.read.CommandRate;
import dev.zmtp.internal.read.DecoderSink;
import dev.zmtp.internal.read.DiscardingSink;
import dev.zmtp.internal.read.FrameOpener;
import dev.zmtp.internal.read.MessageAssembler;
import dev.zmtp.internal.read.MessageLimits;
import dev.zmtp.internal.read.MessageSink;
import dev.zmtp.internal.read.StreamingSink;
import dev.zmtp.internal.wire.Command;
import dev.zmtp.internal.wire.FrameReader;
import dev.zmtp.internal.write.TrafficWriter;
import dev.zmtp.security.ZMTPMechanism.FrameCipher;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.EncoderException;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Messages and commands in both directions, from the end of the handshake to the end of the connection (RFC 13 and 15,
 * "Framing"; RFC 23 and 37, "Traffic").
 *
 * <p>The {@link FrameReader} converts bytes to frames. Commands, including those between the frames of a message, are
 * handled here, and message frames are passed to the {@link MessageSink}. Writes are passed to the {@link
 * TrafficWriter}.
 */
public final class TrafficPhase extends Phase implements Heartbeat.Link, TrafficWriter.Owner {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.codec.TrafficPhase");

    private final ZMTPVersion version;
    private final boolean unversionedPeer;
    private final @Nullable FrameOpener opener;
    private final ZMTPConfig config;
    private final ZMTPSocketType type;
    private final ReadBudget budget;
    private final FrameReader reader;
    private final MessageLimits limits;
    private final CommandRate commandRate;
    private final PeerSubscriptions subscriptions;
    private final TrafficWriter writer;
    private final Heartbeat heartbeat;
    private final @Nullable FrameLog frameLog;

    /** True if message frames can be delivered unchanged, because there is no cipher and none can be a subscription. */
    private final boolean deliversPlainFrames;

    private @Nullable MessageSink sink;

    /** The sink, if it processes frames as they arrive. */
    private @Nullable StreamingSink streamingSink;

    /** True if a command was written and not flushed. */
    private boolean commandPending;

    /**
     * Traffic in {@code version}.
     *
     * @param unversionedPeer whether the peer sent no greeting, so that it cannot subscribe and receives all messages
     * @param cipher the cipher of the frames, or null if they are sent unchanged
     */
    public TrafficPhase(
            Connection connection, ZMTPVersion version, boolean unversionedPeer, @Nullable FrameCipher cipher) {
        super(connection);
        this.version = version;
        this.unversionedPeer = unversionedPeer;
        this.opener =
                cipher == null ? null : new FrameOpener(cipher, connection.ctx().alloc());
        this.config = connection.config();
        this.type = config.socketType();
        this.budget = connection.reads().budget();
        this.reader = new FrameReader(version, connection.memory()::reserve);
        this.limits = new MessageLimits(config, cipher != null);
        this.commandRate = new CommandRate(config.maxCommandsPerSecond(), connection.nanoTime());
        this.subscriptions = new PeerSubscriptions(connection, commandRate);
        this.writer = new TrafficWriter(this, connection, version, cipher);
        this.heartbeat = new Heartbeat(connection, this);
        this.frameLog = FrameLog.of(connection.ctx().channel(), version);
        this.deliversPlainFrames = cipher == null && !type.isPublisher();
    }

    @Override
    public void begin() {
        subscriptions.begin();
        writer.begin();
        if (!isCurrent()) {
            return;
        }
        MessageSink made = newSink();
        if (!isCurrent()) { // the decoder's factory has ended the connection
            UserCode.closeQuietly(connection.ctx().channel(), made::close);
            return;
        }
        sink = made;
        streamingSink = made instanceof StreamingSink streaming ? streaming : null;
    }

    private MessageSink newSink() {
        if (type.isSendOnly()) {
            return new DiscardingSink();
        }
        ZMTPDecoder.Factory decoders = config.decoder();
        return decoders == null
                ? new MessageAssembler(connection)
                : new DecoderSink(connection, decoders.decoder(connection.session()));
    }

    @Override
    public void drain() {
        if (writer.drain() && isCurrent()) {
            flush();
        }
    }

    @Override
    public void open() {
        heartbeat.start(version);
        if (unversionedPeer) {
            subscriptions.subscribeToAll();
        }
    }

    // Inbound

    @Override
    public void compact() {
        if (sink != null) {
            sink.compact();
        }
    }

    @Override
    public long kept() {
        return reader.kept() + (sink == null ? 0 : sink.kept()) + subscriptions.kept();
    }

    @Override
    @Nullable
    public ByteBuf nextRead(ByteBufAllocator alloc, int usual) {
        return reader.nextRead(alloc, usual);
    }

    @Override
    public void heard() {
        heartbeat.onActivity();
    }

    @Override
    public void read(ByteBuf in) {
        connection.reports().bytesArrived();
        heartbeat.onActivity();
        // After each frame, because the flush can end the connection, and the rest of a message is not a message.
        for (; isCurrent() && !budget.isOver(); writer.flushIfLate()) {
            if (deliversPlainFrames && shortFrame(in)) {
                continue;
            }
            if (!reader.isInBody()) {
                if (!reader.readHeader(in)) {
                    return;
                }
                header(in);
            }
            if (!isCurrent() || !body(in)) {
                return;
            }
        }
    }

    /**
     * Processes a message frame that has arrived completely and has a short header, like most frames. Otherwise reads
     * nothing.
     */
    private boolean shortFrame(ByteBuf in) {
        int header = reader.readShortFrame(in);
        if (header < 0) {
            return false;
        }
        budget.count();
        int flags = header >>> 8;
        int length = header & 0xff;
        if (frameLog != null) {
            frameLog.received(flags, length, in);
        }
        limits.check(flags, length);
        sink().frame(in, length, flags != 0);
        return true;
    }

    private void header(ByteBuf in) {
        budget.count();
        if (frameLog != null) {
            frameLog.received(reader.flags(), reader.length(), in);
        }
        if (opener != null) {
            limits.checkSealed(reader.length(), opener.overhead());
            return;
        }
        limits.check(reader.flags(), reader.length());
        if (streamingSink != null && !needsWholeBody() && !reader.isBodyIn(in)) {
            reader.beginParts();
            streamingSink.begin((int) reader.length(), reader.hasMore());
        }
    }

    /** Returns whether the body has to be inspected to determine the kind of the frame. */
    private boolean needsWholeBody() {
        return opener != null || reader.isCommand() || maySubscribe(reader.length());
    }

    /** Processes the part of the body in {@code in}. Returns whether the frame is complete. */
    private boolean body(ByteBuf in) {
        if (!needsWholeBody()) {
            if (reader.isBodyIn(in)) {
                sink().frame(in, reader.takeBody(), reader.hasMore());
                return true;
            }
            if (streamingSink != null) {
                int length = reader.takePart(in);
                boolean last = !reader.isInBody();
                streamingSink.part(in, length, last);
                return last;
            }
        }
        int readable = in.readableBytes();
        ByteBuf body = reader.readBody(in, connection.ctx().alloc());
        if (body == null) {
            if (opener != null) {
                opener.arrived(reader, readable);
            }
            return false;
        }
        wholeBody(body);
        if (in.isReadable()) {
            heartbeat.onActivity(); // bytes after the PING count as activity within its TTL
        }
        return true;
    }

    private void wholeBody(ByteBuf received) {
        ByteBuf body = opener == null ? received : opener.writable(received);
        try {
            if (opener == null) {
                frame(reader.flags(), body);
            } else {
                int flags = opener.open(body);
                limits.check(flags, body.readableBytes());
                frame(flags, body);
            }
        } finally {
            body.release();
        }
    }

    private MessageSink sink() {
        return Objects.requireNonNull(sink);
    }

    /**
     * Returns whether a frame can be a subscription, which peers of any version can send as a message. The frames after
     * it are another message, like in libzmq.
     */
    private boolean maySubscribe(long length) {
        return type.isPublisher() && limits.isFirstFrame() && length > 0 && subscriptions.accepts(length);
    }

    private void frame(int flags, ByteBuf body) {
        if ((flags & ZMTPFraming.COMMAND) != 0) {
            command(body);
            return;
        }
        if (maySubscribe(body.readableBytes())) {
            int first = body.getByte(body.readerIndex());
            if (first == TrafficWriter.SUBSCRIBE || first == TrafficWriter.CANCEL) {
                limits.restart();
                subscriptions.update(first == TrafficWriter.SUBSCRIBE, body.skipBytes(1));
                return;
            }
        }
        sink().frame(body, body.readableBytes(), (flags & ZMTPFraming.MORE) != 0);
    }

    private void command(ByteBuf body) {
        Command command = Command.read(body);
        if (command != Command.SUBSCRIBE && command != Command.CANCEL) {
            commandRate.count();
        }
        switch (command) {
            case PING -> heartbeat.onPing(Command.readTtl(body), body);
            case PONG -> heartbeat.onPong(body);
            case SUBSCRIBE, CANCEL -> subscriptions.update(command == Command.SUBSCRIBE, body);
            case JOIN, LEAVE -> subscriptions.updateGroup(command == Command.JOIN, body);
            // A later version can have more commands. Commands of the handshake no longer have a meaning.
            case HELLO, WELCOME, INITIATE, READY, ERROR, UNKNOWN ->
                logger.debug("{} ignored a command: {}", connection.ctx().channel(), command);
        }
    }

    @Override
    public void decoded() {
        writer.flushWaiting();
    }

    @Override
    public void readComplete() {
        if (commandPending) {
            flush();
        }
        writer.flushWaiting();
    }

    @Override
    public void readResumed() {
        heartbeat.onResumed();
    }

    @Override
    public void writabilityChanged() {
        heartbeat.sendWaitingPong();
        readComplete();
    }

    // Outbound

    @Override
    public void write(Object message, ChannelPromise promise) {
        writer.write(message, promise);
    }

    @Override
    public void afterWrite(boolean flush) {
        if (isCurrent()) {
            if (heartbeat.sendWaitingPong() || flush) {
                flush();
            }
        }
    }

    @Override
    public void flush() {
        if (!writer.isWriting()) {
            commandPending = false;
        }
        writer.flush();
    }

    // The heartbeat's link

    @Override
    public boolean isListening() {
        return connection.demand().isListening();
    }

    @Override
    public boolean isWriting() {
        return writer.isWriting();
    }

    @Override
    public void retryAfterWrite() {
        writer.deferUntilWritten();
    }

    @Override
    public void send(ByteBuf body, ChannelPromise promise) {
        commandPending = true;
        writer.command(body, promise);
    }

    @Override
    public long bytesWritten() {
        return writer.bytesWritten();
    }

    @Override
    public void fail(Throwable cause) {
        connection.fail(cause);
    }

    // The end

    @Override
    public void inputEnded() {
        if (connection.session().isAgreed()) {
            connection.handshake().endedByPeer();
        } else {
            flush();
            writer.flushWaiting(); // the close bypasses the codec, and would overtake a waiting flush
            connection.ctx().close();
        }
    }

    @Override
    @Nullable
    public String unfinishedInput() {
        String frame = reader.unfinished();
        return frame == null ? limits.unfinished() : frame;
    }

    @Override
    public void exceptionCaught(Throwable cause) {
        connection.reports().inTraffic(cause);
    }

    @Override
    public void writeFailed(Throwable cause, boolean isVoid) {
        if (connection.reports().isTorn()) {
            connection.fail(cause);
        } else if (isVoid) {
            connection.reads().writeFailed(cause);
        }
    }

    @Override
    @Nullable
    public Throwable whyRemovalIsFatal() {
        return writer.isMessagePartlySent()
                ? new EncoderException("codec removed while a message was partly written")
                : null;
    }

    @Override
    public void end(@Nullable Throwable cause) {
        heartbeat.stop();
        reader.close();
        if (sink != null) {
            UserCode.closeQuietly(connection.ctx().channel(), sink::close);
        }
        writer.end(cause);
    }

    @Override
    public String toString() {
        return "traffic in " + version;
    }
}
