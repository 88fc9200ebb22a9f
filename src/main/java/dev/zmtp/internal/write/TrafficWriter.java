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
 * Encodes the objects written in traffic, one after the other, into the {@link WriteBatch}.
 *
 * <p><b>Re-entrancy.</b> A write can call back into user code while it is in progress: a promise's listener, a handler
 * that is notified of writability, an encoder. The requests of such a callback are deferred. Its writes are queued and
 * written immediately afterwards. Then the phase performs the remaining requests in {@link Owner#afterWrite}, which are
 * a flush or a command of this side. Only this class maintains that order.
 */
public final class TrafficWriter {

    /** The phase that writes. */
    public interface Owner {

        /** Returns whether the phase is current. */
        boolean isCurrent();

        /**
         * Performs the requests of callbacks during a write that the writer has not performed itself, which are a flush
         * and commands of this side.
         */
        void afterWrite(boolean flush);
    }

    /** The first byte of a subscription that is sent as a message. */
    public static final int SUBSCRIBE = 1;
    /** The first byte of the cancellation of a subscription that is sent as a message. */
    public static final int CANCEL = 0;

    private final Owner traffic;
    private final Connection connection;
    private final HeldWrites waiting;
    private final ZMTPVersion version;
    private final ZMTPSocketType type;
    private final @Nullable FrameCipher cipher;

    /** Null before the first write, because many connections only read. */
    private @Nullable WriteBatch batch;

    private @Nullable CustomEncoder encoder;

    /** Null unless the next message should be checked. */
    private @Nullable DelimiterHint delimiterHint;

    private boolean writing;

    /** True if a callback has made a request during this write. */
    private boolean deferred;

    /** True if the requests of callbacks include a flush. */
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

    /** Begins traffic. Writes wait for {@link #drain}, because those that were made during the handshake come first. */
    public void begin() {
        writing = true;
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

    /** Returns whether a write is in progress, so that this call has to wait for its end. */
    public boolean isWriting() {
        return writing;
    }

    /** Schedules a call of {@link Owner#afterWrite} after the current write. */
    public void deferUntilWritten() {
        deferred = true;
    }

    /** Returns whether the transport has the beginning of a message but not its end. */
    public boolean isMessagePartlySent() {
        return writing && batch != null && batch.isMessagePartlySent();
    }

    /** Takes ownership of {@code message} and {@code promise}. */
    public void write(Object message, ChannelPromise promise) {
        if (writing) {
            deferred = true;
            waiting.add(message, promise, Long.MAX_VALUE);
            return;
        }
        writing = true;
        try {
            // The most common writes take a short path, because the depth of inlining by the JIT is limited.
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

    /**
     * Writes a command of this side. Takes ownership of {@code body} and {@code promise}. Must not be called during a
     * write.
     */
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
     * Writes the writes held during the handshake, in order, and those made by their callbacks.
     *
     * @return whether a flush was requested
     */
    public boolean drain() {
        writing = true;
        try {
            writeWaiting();
        } finally {
            writing = false;
        }
        deferred = false;
        boolean flush = takeDeferredFlush(); // both requests are taken
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

    /** Encodes an object of any type. */
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
        } catch (Throwable e) { // the allocator is out of memory
            promise.tryFailure(new EncoderException(e));
            return;
        }
        batch().standalone(flags, body, promise);
    }

    /** Fails a write that does not reach the batch. */
    private static void refuse(ChannelPromise promise, String why) {
        promise.tryFailure(new EncoderException(why));
    }

    /** Sends the written data. During a write, it is sent after that write. */
    public void flush() {
        if (writing) {
            deferred = true;
            flushDeferred = true;
        } else {
            batch().flush();
        }
    }

    /** Performs the flush that waits for others of the same window, if there is one. */
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

    /** Called between frames that were read. Performs the waiting flush, if it has waited for too long. */
    public void flushIfLate() {
        if (batch != null && batch.window().isLate()) {
            flushWaiting();
        }
    }

    /** Returns the number of bytes that were written and not passed to the transport yet. */
    int length() {
        return batch().length();
    }

    /** Returns the number of bytes written in traffic, including those that were not passed to the transport yet. */
    public long bytesWritten() {
        return batch == null ? 0 : batch.bytesWritten();
    }

    /** Ends traffic, because of {@code cause} if it is a failure. */
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
