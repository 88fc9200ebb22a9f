package dev.zmtp.codec;

import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.security.ZMTPMechanism.FrameCipher;
import dev.zmtp.wire.Command;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.EncoderException;
import io.netty.util.ReferenceCountUtil;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What is written in traffic: each kind of object in its form on the wire, one after the other, to the {@link OutboundBatch}.
 *
 * <p>A write to the transport may call back into user code, in the middle of a message. What that writes is held and comes
 * behind it; what it flushes is flushed behind it.
 */
final class Outbound {

    /** The first octet of a subscription that travels as a message. */
    static final int SUBSCRIBE = 1;
    /** The first octet of the end of a subscription that travels as a message. */
    static final int CANCEL = 0;

    private final TrafficPhase traffic;
    private final ZMTPCodec codec;
    private final ZMTPVersion version;
    private final ZMTPSocketType type;
    private final OutboundBatch batch;
    private final ZMTPEstimator estimator;
    private final ZMTPWriter writer;

    private @Nullable ZMTPEncoder encoder;
    private boolean writing;

    /** Whether a callback asked for something during a write, which is to be done behind it. */
    private boolean asked;

    Outbound(TrafficPhase traffic, ZMTPVersion version, @Nullable FrameCipher cipher) {
        this.traffic = traffic;
        this.codec = traffic.codec;
        this.version = version;
        this.type = codec.config().socketType();
        this.batch = new OutboundBatch(codec, version, cipher);
        this.estimator = new ZMTPEstimator(version);
        this.writer = new ZMTPWriter(version);
    }

    void begin() {
        ZMTPEncoder.Factory encoders = codec.config().encoder();
        if (encoders != null) {
            encoder = encoders.encoder(codec.session());
        }
    }

    /** Whether a write is going on, whose callback asks, and has to wait: the phase is told when that write is done. */
    boolean mustWait() {
        asked |= writing;
        return writing;
    }

    /** Whether the transport has the beginning of a message whose rest is still to come. */
    boolean isInMidMessage() {
        return writing && batch.isTorn();
    }

    /** Takes over {@code message} and {@code promise}. */
    void write(Object message, ChannelPromise promise) {
        if (mustWait()) {
            codec.held().add(message, promise, Long.MAX_VALUE);
            return;
        }
        writing = true;
        try {
            // What is written most goes a short way: the JIT inlines only so deep.
            ZMTPEncoder own = encoder;
            if (own == null && message instanceof ZMTPMessage frames) {
                batch.message(frames, promise);
            } else if (own != null && !isControl(message)) {
                batch.encode(message, own, estimator, writer, promise);
            } else {
                encode(message, promise);
            }
            writeHeldIfAsked();
        } finally {
            writing = false;
        }
        tellIfAsked();
    }

    /** Writes a command of our own, whose body is taken over. Not during a write. */
    void command(ByteBuf body) {
        writing = true;
        try {
            batch.value(ZMTPVersion.COMMAND, body, codec.ctx().newPromise());
            writeHeldIfAsked();
        } finally {
            writing = false;
        }
        tellIfAsked();
    }

    private void writeHeldIfAsked() {
        if (asked) {
            writeHeld();
        }
    }

    private void tellIfAsked() {
        if (asked) {
            asked = false;
            traffic.written();
        }
    }

    private static boolean isControl(Object message) {
        return message instanceof ZMTPSubscription || message instanceof ZMTPMembership;
    }

    /** Writes what was held until now, in order, and what callbacks write meanwhile. */
    void drain() {
        writing = true;
        try {
            writeHeld();
        } finally {
            writing = false;
        }
    }

    private void writeHeld() {
        while (!codec.held().isEmpty() && traffic.isCurrent()) {
            codec.held().writeNext(this);
        }
    }

    /** Encodes one write. For {@link HeldWrites}; others call {@link #write}. */
    void encode(Object message, ChannelPromise promise) {
        batch.start(); // also for what never comes to the batch: its promise's listener may end the connection
        if (message instanceof ZMTPMessage frames && encoder == null) {
            batch.message(frames, promise);
        } else if (message instanceof ZMTPSubscription subscription) {
            subscribe(subscription, promise);
        } else if (message instanceof ZMTPMembership membership) {
            join(membership, promise);
        } else if (encoder != null) {
            batch.encode(message, encoder, estimator, writer, promise);
        } else {
            ReferenceCountUtil.safeRelease(message);
            promise.tryFailure(new EncoderException("message: a "
                    + message.getClass().getName() + " (expected: a ZMTPMessage, or a codec with an encoder for it)"));
        }
    }

    private void subscribe(ZMTPSubscription subscription, ChannelPromise promise) {
        if (!type.isSubscriber()) {
            promise.tryFailure(new EncoderException("subscription: on a " + type + " (expected: on a SUB or XSUB)"));
            return;
        }
        ByteBufAllocator alloc = codec.ctx().alloc();
        ByteBuf topic = subscription.topic();
        if (version == ZMTPVersion.ZMTP31) {
            Command command = subscription.isSubscribe() ? Command.SUBSCRIBE : Command.CANCEL;
            value(ZMTPVersion.COMMAND, promise, () -> command.body(alloc, topic));
        } else {
            int first = subscription.isSubscribe() ? SUBSCRIBE : CANCEL;
            value(
                    0,
                    promise,
                    () -> alloc.buffer(1 + topic.readableBytes())
                            .writeByte(first)
                            .writeBytes(topic));
        }
    }

    private void value(int flags, ChannelPromise promise, Supplier<ByteBuf> maker) {
        ByteBuf body;
        try {
            body = maker.get();
        } catch (Throwable e) { // the allocator has no more memory
            promise.tryFailure(new EncoderException(e));
            return;
        }
        batch.value(flags, body, promise);
    }

    private void join(ZMTPMembership membership, ChannelPromise promise) {
        if (type != ZMTPSocketType.DISH) {
            promise.tryFailure(new EncoderException("membership: on a " + type + " (expected: on a DISH)"));
            return;
        }
        Command command = membership.isJoin() ? Command.JOIN : Command.LEAVE;
        value(ZMTPVersion.COMMAND, promise, () -> command.body(codec.ctx().alloc(), membership.group()));
    }

    /** Flushes what was written; from a callback of a write, behind that write. */
    void flush() {
        if (mustWait()) {
            codec.held().flush();
        } else {
            batch.flush();
        }
    }

    /** The end of traffic, for {@code cause} if that is a failure. */
    void end(@Nullable Throwable cause) {
        if (encoder != null) {
            codec.quietly(encoder::close);
        }
        if (cause != null) {
            batch.fail(cause);
        } else {
            batch.end(writing);
        }
    }
}
