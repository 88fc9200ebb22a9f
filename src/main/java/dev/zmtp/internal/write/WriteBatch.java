package dev.zmtp.internal.write;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.internal.connection.Connection;
import dev.zmtp.internal.wire.FrameWriter;
import dev.zmtp.security.ZMTPMechanism.FrameCipher;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.EncoderException;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
import java.nio.channels.ClosedChannelException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Encodes messages at once into one {@linkplain BatchBuffer open buffer}, which goes to the transport when it is full
 * or at a flush.
 *
 * <p>Small bodies are copied; a large one goes by reference, after what was copied before it. The promises of the
 * messages that end in a buffer complete with the result of its write. Only the open buffer is unknown to the
 * transport, so the channel's writability is true to within one such buffer.
 *
 * <p>On the channel's event loop only, and not re-entrant: {@link TrafficWriter} lets one write at a time through. A
 * write to the transport may still end the connection, so the state is checked again after each.
 */
final class WriteBatch {

    /** Bodies up to this size are copied. */
    static final int COPY_LIMIT = 4096;

    private enum State {
        OPEN,
        /** The codec's part in the connection is over: the transport has what was written. */
        ENDED,
        /** The connection was ended by a failure: what the transport had not got was dropped. */
        FAILED
    }

    /** The fates of the message that is being written if the rest of it cannot be. */
    private enum Rollback {
        /** The transport has nothing of it: it can be taken back. */
        POSSIBLE,
        /** The transport has part of it: the peer would read anything sent next as the rest. */
        PARTLY_SENT,
        /** The cipher has failed: its nonces may be out of step, so that the peer could not open later frames. */
        CIPHER_BROKEN
    }

    private final Connection connection;
    private final ChannelHandlerContext ctx;
    private final ZMTPVersion version;
    private final ZMTPFraming framing;
    private final FrameWriter writer;
    private final @Nullable FrameCipher cipher;
    private final BatchBuffer buffer;
    private final FlushWindow window;
    private final WritePromises promises = new WritePromises();
    private final TransportWrites transport;
    /** The longest body that has a short header and is copied; -1 with a cipher, which seals every body. */
    private final int maxShortCopy;

    private State state = State.OPEN;
    private @Nullable Throwable failure;
    private Rollback rollback = Rollback.POSSIBLE;

    /** Where the message that is being written starts in the open buffer. */
    private int messageStart;

    WriteBatch(Connection connection, ZMTPVersion version, @Nullable FrameCipher cipher, FlushWindow window) {
        this.connection = connection;
        this.ctx = connection.ctx();
        this.version = version;
        this.framing = version.framing();
        this.writer = new FrameWriter(version);
        this.cipher = cipher;
        this.buffer = new BatchBuffer(ctx.alloc());
        this.transport = new TransportWrites(connection, version, promises);
        this.window = window;
        this.maxShortCopy = cipher == null ? Math.min(COPY_LIMIT, framing.maxShortBody()) : -1;
    }

    // Messages

    /** Takes ownership of {@code message} and {@code promise}. */
    void message(ZMTPMessage message, ChannelPromise promise) {
        try {
            if (promise.setUncancellable()) {
                int last = message.size() - 1;
                if (message.isEncodedOnce() && cipher == null && last >= 0) {
                    encoded(message.write(ctx.alloc(), version), promise);
                } else if (last == 0) {
                    frame(0, unreleased(message, 0), promise); // as most messages are
                } else {
                    frames(message, last, promise);
                }
                handOverIfLarge();
            }
        } catch (Throwable e) {
            takeBack(e, promise);
        } finally {
            ReferenceCountUtil.safeRelease(message);
        }
    }

    /** Writes a frame that stands alone: a command or a subscription. Takes over {@code body} and {@code promise}. */
    void standalone(int flags, ByteBuf body, ChannelPromise promise) {
        promises.areOfMessages(false);
        try {
            if (promise.setUncancellable()) {
                frame(flags, body, promise);
                handOverIfLarge();
            }
        } catch (Throwable e) {
            takeBack(e, promise);
        } finally {
            promises.areOfMessages(true);
            body.release();
        }
    }

    /** Takes ownership of {@code object}, which {@code encoder} writes, and of {@code promise}. */
    void encode(Object object, CustomEncoder encoder, ChannelPromise promise) {
        try {
            if (promise.setUncancellable()) {
                int size = encoder.estimate(object);
                if (cipher != null) {
                    encodeSealed(object, encoder, size);
                } else { // not in a method of its own: the JIT inlines only so deep
                    makeRoom(size);
                    ByteBuf out = buffer.lease(size);
                    try {
                        encoder.encode(object, out);
                    } finally {
                        buffer.endLease();
                    }
                    continueAfter(out);
                }
                endMessage(promise);
                handOverIfLarge();
            }
        } catch (Throwable e) {
            takeBack(e, promise);
        } finally {
            encoder.release(object);
        }
    }

    private void encodeSealed(Object object, CustomEncoder encoder, int size) {
        ByteBuf plain = ctx.alloc().buffer(size);
        try {
            encoder.encode(object, plain);
            ZMTPMessage frames = Objects.requireNonNull(ZMTPMessage.read(plain, version));
            try {
                for (int i = 0, last = frames.size() - 1; i <= last; i++) {
                    frame(i < last ? ZMTPFraming.MORE : 0, frames.frame(i), null);
                }
            } finally {
                frames.release();
            }
        } finally {
            plain.release();
        }
    }

    /** Completes {@code promise}, which is taken over, with the result of all that was written before. */
    void barrier(ChannelPromise promise) {
        if (!promise.setUncancellable()) {
            return;
        }
        handOver();
        transport.barrier(promise);
    }

    /** The message ends here: it is whole, whatever a callback does from now on. */
    private void endMessage(ChannelPromise promise) {
        if (state != State.OPEN) { // a callback closed the channel while the message was written
            promise.tryFailure(whyEnded());
            return;
        }
        messageStart = buffer.index; // of the next one
        if (rollback != Rollback.POSSIBLE) { // avoid a GC write barrier for each message
            rollback = Rollback.POSSIBLE;
        }
        promises.add(promise);
    }

    /** Returns whether the transport has the beginning of the message that is being written, but not its end. */
    boolean isMessagePartlySent() {
        return rollback == Rollback.PARTLY_SENT;
    }

    /** Takes back what was written of the message. Only then fails the promise, whose listener may flush. */
    private void takeBack(Throwable cause, ChannelPromise promise) {
        EncoderException refusal = cause instanceof EncoderException known ? known : new EncoderException(cause);
        if (rollback != Rollback.POSSIBLE) {
            connection.fail(refusal);
        } else if (state == State.OPEN) {
            buffer.index = messageStart;
        }
        promise.tryFailure(refusal);
    }

    /** Writes the frames of a whole message. Takes over {@code frames} and {@code promise}. */
    private void encoded(ByteBuf frames, ChannelPromise promise) {
        int length = frames.readableBytes();
        if (length > COPY_LIMIT || isFirstOfFlush()) {
            handOverBefore(frames);
            transport.frames(frames, promise);
            return;
        }
        try {
            makeRoom(length);
            buffer.append(frames);
        } finally {
            frames.release();
        }
        endMessage(promise);
    }

    /** Returns whether nothing else leaves together with what is written now. */
    private boolean isFirstOfFlush() {
        return buffer.index == 0 && !transport.isUnflushed() && !window.isOpen();
    }

    private void frames(ZMTPMessage message, int last, ChannelPromise promise) {
        if (last < 0) {
            throw new EncoderException("message frames: 0 (expected: >= 1)");
        }
        for (int i = 0; i <= last; i++) {
            unreleased(message, i); // all of them first: of a message that cannot be written, nothing must leave
        }
        for (int i = 0; i < last; i++) {
            frame(ZMTPFraming.MORE, message.frame(i), null);
        }
        frame(0, message.frame(last), promise);
    }

    private static ByteBuf unreleased(ZMTPMessage message, int index) {
        ByteBuf frame = message.frame(index);
        if (frame.refCnt() == 0) {
            throw new EncoderException(
                    "frame " + index + ": released (expected: owned by the message)",
                    new IllegalReferenceCountException(0));
        }
        return frame;
    }

    // Frames

    /** Writes one frame, whose body is neither moved nor released. The message ends with it if it has a promise. */
    private void frame(int flags, ByteBuf body, @Nullable ChannelPromise promise) {
        int length = body.readableBytes();
        ByteBuf out = buffer.open;
        int index = buffer.index;
        if (out == null || length > maxShortCopy || buffer.limit - index < 2 + length) {
            otherFrame(flags, body, length, promise);
            return;
        }
        // Not by way of the writer: a call less on the way that most frames take.
        out.setShort(index, framing.shortHeader(flags, length));
        // Not out.setBytes: a buffer of the adaptive allocator is slow to copy from another kind, but quick to copy to.
        body.getBytes(body.readerIndex(), out, index + 2, length);
        buffer.index = index + 2 + length;
        if (promise != null) {
            endMessage(promise);
        }
    }

    /** Writes an uncommon frame: long, sealed, or larger than the room in the open buffer. */
    private void otherFrame(int flags, ByteBuf body, int length, @Nullable ChannelPromise promise) {
        if (cipher == null && length > COPY_LIMIT) {
            referencedFrame(flags, body, length, promise);
            return;
        }
        if (cipher != null) {
            sealedFrame(cipher, flags, body, length);
        } else {
            copiedFrame(flags, body, length);
        }
        if (promise != null) {
            endMessage(promise);
        }
    }

    private void copiedFrame(int flags, ByteBuf body, int length) {
        int frameLength = writer.frameLength(length);
        makeRoom(frameLength);
        ByteBuf out = buffer.writable(frameLength);
        writer.write(out, flags, body);
        buffer.continueAfter(out);
    }

    private void sealedFrame(FrameCipher cipher, int flags, ByteBuf body, int length) {
        if (state != State.OPEN) { // and so the cipher is closed
            throw connectionEnded();
        }
        int sealed = cipher.sealedLength(length);
        int frameLength = writer.frameLength(sealed);
        makeRoom(frameLength);
        ByteBuf out = buffer.lease(frameLength);
        try {
            writer.writeHeader(out, 0, sealed);
            cipher.seal(flags, body, out);
        } catch (Throwable e) {
            rollback = Rollback.CIPHER_BROKEN;
            throw e;
        } finally {
            buffer.endLease();
        }
        continueAfter(out);
    }

    /** Sends the body itself; the duplicate has indices of its own, as the message may go to other channels too. */
    private void referencedFrame(int flags, ByteBuf body, int length, @Nullable ChannelPromise promise) {
        int headerLength = writer.headerLength(length);
        makeRoom(headerLength);
        ByteBuf header = buffer.writable(headerLength);
        writer.writeHeader(header, flags, length);
        buffer.continueAfter(header);
        ByteBuf referenced = body.retainedDuplicate(); // first: with a body that was released, nothing must leave
        handOverBefore(referenced);
        // At the end of the message, a callback finds it whole.
        rollback = promise == null ? Rollback.PARTLY_SENT : Rollback.POSSIBLE;
        transport.body(flags, referenced, promise);
    }

    /** Hands over what was written before {@code bytes}, which are released if nothing may follow. */
    private void handOverBefore(ByteBuf bytes) {
        handOver();
        if (state != State.OPEN) { // before, or by a callback of the transport during this flush
            bytes.release();
            throw connectionEnded();
        }
    }

    /** Goes on after what an encoder or a cipher has appended to {@code out}, unless that has ended the connection. */
    private void continueAfter(ByteBuf out) {
        if (state == State.OPEN) {
            buffer.continueAfter(out);
        }
    }

    /** Hands the open buffer over if it has no room for {@code length} bytes. */
    private void makeRoom(int length) {
        if (buffer.isTooSmallFor(length)) {
            buffer.grow();
            handOver();
        }
        if (state != State.OPEN) { // before, or by a callback of the transport during this flush
            throw connectionEnded();
        }
    }

    private EncoderException connectionEnded() {
        return new EncoderException("the connection ended", whyEnded());
    }

    private Throwable whyEnded() {
        return failure == null ? new ClosedChannelException() : failure;
    }

    // The transport

    /** Sends what was written, now or in the same {@link FlushWindow}. */
    void flush() {
        if (transport.isUnflushed() || !window.defer()) {
            flushNow();
        }
    }

    /** Sends what was written, unless the connection has ended. */
    void flushNow() {
        if (state != State.OPEN) {
            return;
        }
        window.flushed(); // first: what a callback writes and flushes from here on has a flush of its own
        if (buffer.open != null) {
            buffer.shrinkIfSmall();
            handOver();
        }
        transport.flush();
    }

    /** The flushes that wait for others. */
    FlushWindow window() {
        return window;
    }

    /** The bytes that were written and that the transport has not got. */
    int length() {
        return buffer.index;
    }

    long bytesWritten() {
        return transport.bytes() + buffer.index;
    }

    /** What a cipher or the user's encoder appends may be of any size, and the transport must know of it. */
    private void handOverIfLarge() {
        if (buffer.index >= BatchBuffer.MAX_CAPACITY) {
            handOver();
        }
    }

    /** Hands what was written to the transport. */
    private void handOver() {
        if (buffer.index > messageStart && rollback == Rollback.POSSIBLE) {
            rollback = Rollback.PARTLY_SENT;
        }
        messageStart = 0;
        ByteBuf full = buffer.take(connection.memory().isUnsent());
        if (full == null) {
            return;
        }
        transport.batch(full);
        if (window.isDue()) {
            window.flushed(); // as above
            transport.flush();
        }
    }

    /** Ends the connection with {@code cause}: drops what the transport has not got, and fails its promises. */
    void fail(Throwable cause) {
        state = State.FAILED;
        failure = cause;
        buffer.drop();
        promises.fail(cause);
    }

    /**
     * Ends the codec's part in the connection: the transport gets what was written, and answers for it. Of a message
     * that is being written ({@code writing}) it gets no more.
     */
    void end(boolean writing) {
        state = State.ENDED;
        if (writing) {
            try {
                buffer.cut(messageStart);
            } catch (Throwable e) { // the allocator has no more memory
                fail(e);
                return;
            }
        }
        handOver();
    }
}
