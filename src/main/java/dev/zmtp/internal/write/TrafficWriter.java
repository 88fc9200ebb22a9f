package dev.zmtp.internal.write;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPEncoder;
import dev.zmtp.internal.connection.Connection;
import dev.zmtp.internal.connection.HeldWrites;
import dev.zmtp.internal.connection.UserCode;
import dev.zmtp.internal.wire.Command;
import dev.zmtp.security.ZMTPMechanism.FrameCipher;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.EncoderException;
import io.netty.util.ReferenceCountUtil;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Encodes what is written in traffic, one object after the other, into the {@link WriteBatch}.
 *
 * <p><b>Re-entrancy.</b> A write can call back into user code while it is in progress: a promise's listener, a handler
 * that hears of writability, an encoder. What such a callback asks for is deferred. What it writes waits, and is
 * written right after; then the phase does the rest in {@link Owner#afterWrite}: a flush, or a command of our own. This
 * class alone keeps that order.
 */
public final class TrafficWriter {

    /** The phase that writes. */
    public interface Owner {

        /** Returns whether it has not ended. */
        boolean isCurrent();

        /**
         * Does what callbacks asked for during a write and the writer has not done itself: a flush, and commands of our
         * own.
         */
        void afterWrite(boolean flush);
    }

    /** The first byte of a subscription that travels as a message. */
    public static final int SUBSCRIBE = 1;
    /** The first byte of the end of a subscription that travels as a message. */
    public static final int CANCEL = 0;

    private final Owner traffic;
    private final Connection connection;
    private final HeldWrites waiting;
    private final ZMTPVersion version;
    private final ZMTPSocketType type;
    private final @Nullable FrameCipher cipher;

    /** Null before the first write: many connections only read. */
    private @Nullable WriteBatch batch;

    private @Nullable CustomEncoder encoder;

    /** Null unless the next message should be looked at. */
    private @Nullable DelimiterHint delimiterHint;

    private boolean writing;

    /** A callback has asked for something during this write. */
    private boolean deferred;

    /** One of the things that a callback has asked for is a flush. */
    private boolean flushDeferred;

    public TrafficWriter(Owner traffic, Connection connection, ZMTPVersion version, @Nullable FrameCipher cipher) {
        this.traffic = traffic;
        this.connection = connection;
        this.waiting = connection.held();
        this.version = version;
        this.type = connection.config().socketType();
        this.cipher = cipher;
        this.delimiterHint = DelimiterHint.of(connection.session());
    }

    private WriteBatch batch() {
        if (batch == null) {
            FlushWindow window = new FlushWindow(
                    this, connection.ctx().executor(), connection.config().consolidateFlushes(), connection.nanoTime());
            batch = new WriteBatch(connection, version, cipher, window);
        }
        return batch;
    }

    public void begin() {
        ZMTPEncoder.Factory encoders = connection.config().encoder();
        if (encoders != null) {
            ZMTPEncoder made = encoders.encoder(connection.session());
            if (traffic.isCurrent()) {
                encoder = new CustomEncoder(made, version);
            } else { // the factory has ended the connection
                UserCode.closeQuietly(connection.ctx().channel(), made::close);
            }
        }
    }

    /** Returns whether this is a call from inside a write, which has to wait for the end of it. */
    public boolean isWriting() {
        return writing;
    }

    /** Has {@link Owner#afterWrite} called when the current write is done. */
    public void deferUntilWritten() {
        deferred = true;
    }

    /** Returns whether the transport has the beginning of a message but not its end. */
    public boolean isMessagePartlySent() {
        return writing && batch().isMessagePartlySent();
    }

    /** Takes over {@code message} and {@code promise}. */
    public void write(Object message, ChannelPromise promise) {
        if (writing) {
            deferred = true;
            waiting.add(message, promise, Long.MAX_VALUE);
            return;
        }
        writing = true;
        try {
            // What is written most takes a short way: the JIT inlines only so deep.
            CustomEncoder custom = encoder;
            if (custom == null && message instanceof ZMTPMessage frames) {
                if (delimiterHint != null) {
                    delimiterHint = delimiterHint.look(frames);
                }
                batch().message(frames, promise);
            } else if (custom != null && custom.takes(message)) {
                batch().encode(message, custom, promise);
            } else {
                encode(message, promise);
            }
            if (deferred) {
                writeWaiting();
            }
        } finally {
            writing = false;
        }
        afterWrite();
    }

    /** Writes a command of our own. Takes over {@code body} and {@code promise}. Not during a write. */
    public void command(ByteBuf body, ChannelPromise promise) {
        writing = true;
        try {
            batch().standalone(ZMTPFraming.COMMAND, body, promise);
            if (deferred) {
                writeWaiting();
            }
        } finally {
            writing = false;
        }
        afterWrite();
    }

    private void afterWrite() {
        if (deferred) {
            deferred = false;
            traffic.afterWrite(takeDeferredFlush());
        }
    }

    /**
     * Writes what was held during the handshake, in order, and what its callbacks write.
     *
     * @return whether a flush was asked for
     */
    public boolean drain() {
        writing = true;
        try {
            writeWaiting();
        } finally {
            writing = false;
        }
        deferred = false;
        boolean flush = takeDeferredFlush(); // both are taken
        return waiting.takeFlushRequest() || flush;
    }

    /** Returns whether a flush was deferred since the last call. */
    private boolean takeDeferredFlush() {
        boolean taken = flushDeferred;
        flushDeferred = false;
        return taken;
    }

    private void writeWaiting() {
        while (traffic.isCurrent()) {
            HeldWrites.HeldWrite next = waiting.poll();
            if (next == null) {
                return;
            }
            encode(next.message(), next.promise());
        }
    }

    /** Encodes one object, of whatever kind. */
    private void encode(Object message, ChannelPromise promise) {
        if (encoder != null && encoder.takes(message)) {
            batch().encode(message, encoder, promise);
        } else if (encoder == null && message instanceof ZMTPMessage frames) {
            batch().message(frames, promise);
        } else if (message instanceof ZMTPSubscription subscription) {
            subscribe(subscription, promise);
        } else if (message instanceof ZMTPMembership membership) {
            join(membership, promise);
        } else if (message instanceof ByteBuf bytes && !bytes.isReadable()) {
            ReferenceCountUtil.safeRelease(bytes);
            batch().barrier(promise);
        } else {
            ReferenceCountUtil.safeRelease(message);
            refuse(
                    promise,
                    "message type: " + message.getClass().getName()
                            + " (expected: ZMTPMessage, or a type that the config's encoder takes)");
        }
    }

    private void subscribe(ZMTPSubscription subscription, ChannelPromise promise) {
        if (!type.isSubscriber()) {
            refuse(promise, "subscription: on a " + type + " (expected: on a SUB or XSUB)");
            return;
        }
        ByteBufAllocator alloc = connection.ctx().alloc();
        ByteBuf topic = subscription.topic();
        if (version.hasTrafficCommands()) {
            Command command = subscription.isSubscribe() ? Command.SUBSCRIBE : Command.CANCEL;
            single(ZMTPFraming.COMMAND, promise, () -> command.body(alloc, topic));
        } else {
            int first = subscription.isSubscribe() ? SUBSCRIBE : CANCEL;
            single(
                    0,
                    promise,
                    () -> alloc.buffer(1 + topic.readableBytes())
                            .writeByte(first)
                            .writeBytes(topic));
        }
    }

    private void join(ZMTPMembership membership, ChannelPromise promise) {
        if (type != ZMTPSocketType.DISH) {
            refuse(promise, "membership: on a " + type + " (expected: on a DISH)");
            return;
        }
        Command command = membership.isJoin() ? Command.JOIN : Command.LEAVE;
        single(ZMTPFraming.COMMAND, promise, () -> command.body(connection.ctx().alloc(), membership.group()));
    }

    private void single(int flags, ChannelPromise promise, Supplier<ByteBuf> maker) {
        ByteBuf body;
        try {
            body = maker.get();
        } catch (Throwable e) { // the allocator has no more memory
            promise.tryFailure(new EncoderException(e));
            return;
        }
        batch().standalone(flags, body, promise);
    }

    /** Fails a write that never comes to the batch. */
    private static void refuse(ChannelPromise promise, String why) {
        promise.tryFailure(new EncoderException(why));
    }

    /** Sends what was written; from inside a write, after it. */
    public void flush() {
        if (writing) {
            deferred = true;
            flushDeferred = true;
        } else {
            batch().flush();
        }
    }

    /** Makes the flush that waits for others of the same window, if there is one. */
    public void flushWaiting() {
        if (batch == null || !batch.window().isDue()) {
            return;
        }
        if (writing) {
            deferred = true;
            flushDeferred = true;
        } else {
            batch.flushNow();
        }
    }

    /** Between two frames that were read: makes the flush that waits, if it has waited for too long. */
    public void flushIfLate() {
        if (batch != null && batch.window().isLate()) {
            flushWaiting();
        }
    }

    /** The bytes that were written and that the transport has not got. */
    int length() {
        return batch().length();
    }

    /** Returns how many bytes were written in traffic, those that the transport has not got yet among them. */
    public long bytesWritten() {
        return batch == null ? 0 : batch.bytesWritten();
    }

    /** The end of traffic, for {@code cause} if that is a failure. */
    public void end(@Nullable Throwable cause) {
        if (encoder != null) {
            UserCode.closeQuietly(connection.ctx().channel(), encoder::close);
        }
        if (batch == null) {
            return;
        }
        if (cause != null) {
            batch.fail(cause);
        } else {
            batch.end(writing);
        }
    }
}
