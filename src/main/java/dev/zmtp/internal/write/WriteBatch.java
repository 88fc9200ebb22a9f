package dev.zmtp.internal.write;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.internal.connection.Connection;
import dev.zmtp.internal.runtime.MessageRefusal;
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
 * Encodes messages immediately into an {@linkplain BatchBuffer open buffer}, which is passed to the transport when it
 * is full or at a flush.
 *
 * <p>Small bodies are copied. A large body is passed by reference, after the copied data before it. The promises of the
 * messages that end in a buffer complete with the result of its write. The transport is unaware only of the open
 * buffer, so the channel's writability is accurate to within one such buffer.
 *
 * <p>Used only on the channel's event loop, and not re-entrant: {@link TrafficWriter} permits one write at a time. A
 * write to the transport can end the connection, so the state is checked again after each write.
 */
final class WriteBatch {

    /** Maximum size of a body that is copied. */
    static final int COPY_LIMIT = 4096;

    private enum State {
        OPEN,
        /** The codec's part in the connection is over. The transport has the written data. */
        ENDED,
        /** A failure ended the connection. Data that was not passed to the transport was dropped. */
        FAILED
    }

    /** The options for the current message if its rest cannot be written. */
    private enum Rollback {
        /** The transport has no part of the message, so it can be undone. */
        POSSIBLE,
        /** The transport has a part of the message. The peer would read any later data as its rest. */
        PARTLY_SENT,
        /** The cipher has failed. Its nonces can be out of step, so that the peer could not open later frames. */
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
    /** Maximum length of a copied body with a short header; -1 with a cipher, which seals every body. */
    private final int maxShortCopy;

    private State state = State.OPEN;
    private @Nullable Throwable failure;
    private Rollback rollback = Rollback.POSSIBLE;

    /** The start of the current message in the open buffer. */
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
                    frame(0, unreleased(message, 0), promise); // like most messages
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

    /** Writes a command or subscription as a separate frame. Takes ownership of {@code body} and {@code promise}. */
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
                } else { // not in a separate method, because the depth of inlining by the JIT is limited
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

    /** Takes ownership of {@code promise} and completes it with the result of all earlier writes. */
    void barrier(ChannelPromise promise) {
        if (!promise.setUncancellable()) {
            return;
        }
        handOver();
        transport.barrier(promise);
    }

    /** Ends the message, which is now whole regardless of later callbacks. */
    private void endMessage(ChannelPromise promise) {
        if (state != State.OPEN) { // a callback closed the channel while the message was written
            promise.tryFailure(whyEnded());
            return;
        }
        promises.add(promise); // first, because there might be no memory for it
        messageStart = buffer.index; // of the next message
        if (rollback != Rollback.POSSIBLE) { // avoids a GC write barrier per message
            rollback = Rollback.POSSIBLE;
        }
    }

    /** Returns whether the transport has the beginning of the current message, but not its end. */
    boolean isMessagePartlySent() {
        return rollback == Rollback.PARTLY_SENT;
    }

    /** Removes the written part of the message, and then fails the promise, whose listener can flush. */
    private void takeBack(Throwable cause, ChannelPromise promise) {
        EncoderException refusal = MessageRefusal.of(cause, rollback == Rollback.POSSIBLE);
        if (rollback != Rollback.POSSIBLE) {
            connection.fail(refusal);
        } else if (state == State.OPEN) {
            buffer.index = messageStart;
        }
        promise.tryFailure(refusal);
    }

    /** Writes the frames of a whole message. Takes ownership of {@code frames} and {@code promise}. */
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

    /** Returns whether no other data is sent together with the current write. */
    private boolean isFirstOfFlush() {
        return buffer.index == 0 && !transport.isUnflushed() && !window.isOpen();
    }

    private void frames(ZMTPMessage message, int last, ChannelPromise promise) {
        if (last < 0) {
            throw MessageRefusal.withoutFrames(message.refCnt());
        }
        for (int i = 0; i <= last; i++) {
            unreleased(message, i); // all frames first, because no part of an unwritable message may be sent
        }
        for (int i = 0; i < last; i++) {
            frame(ZMTPFraming.MORE, message.frame(i), null);
        }
        frame(0, message.frame(last), promise);
    }

    private static ByteBuf unreleased(ZMTPMessage message, int index) {
        ByteBuf frame = message.frame(index);
        if (frame.refCnt() == 0) {
            String text = "frame " + index + ": released (expected: owned by the message)";
            throw new MessageRefusal(text, new IllegalReferenceCountException(0));
        }
        return frame;
    }

    // Frames

    /** Writes a frame, whose body is neither moved nor released. A non-null promise marks the end of the message. */
    private void frame(int flags, ByteBuf body, @Nullable ChannelPromise promise) {
        int length = body.readableBytes();
        ByteBuf out = buffer.open;
        int index = buffer.index;
        if (out == null || length > maxShortCopy || buffer.limit - index < 2 + length) {
            otherFrame(flags, body, length, promise);
            return;
        }
        // Without the writer, which saves a call on the most common path.
        out.setShort(index, framing.shortHeader(flags, length));
        // Not out.setBytes, because adaptive buffers are slow to copy from another kind of buffer, but fast to copy to.
        body.getBytes(body.readerIndex(), out, index + 2, length);
        buffer.index = index + 2 + length;
        if (promise != null) {
            endMessage(promise);
        }
    }

    /** Writes an uncommon frame, which is long, sealed, or larger than the room in the open buffer. */
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
        if (state != State.OPEN) { // so the cipher is closed
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

    /** Sends a duplicate of the body with its own indices, because other channels can send the message too. */
    private void referencedFrame(int flags, ByteBuf body, int length, @Nullable ChannelPromise promise) {
        int headerLength = writer.headerLength(length);
        makeRoom(headerLength);
        ByteBuf header = buffer.writable(headerLength);
        writer.writeHeader(header, flags, length);
        buffer.continueAfter(header);
        ByteBuf referenced = body.retainedDuplicate(); // first, so that nothing is sent if the body was released
        handOverBefore(referenced);
        // At the end of the message, a callback finds it whole.
        rollback = promise == null ? Rollback.PARTLY_SENT : Rollback.POSSIBLE;
        transport.body(flags, referenced, promise);
    }

    /** Hands over the data written before {@code bytes}, which are released if nothing may follow. */
    private void handOverBefore(ByteBuf bytes) {
        handOver();
        if (state != State.OPEN) { // earlier, or by a callback of the transport during this flush
            bytes.release();
            throw connectionEnded();
        }
    }

    /** Continues after the data that an encoder or a cipher appended to {@code out}, unless the connection ended. */
    private void continueAfter(ByteBuf out) {
        if (state == State.OPEN) {
            buffer.continueAfter(out);
        }
    }

    /** Hands over the open buffer if it has no room for {@code length} bytes. */
    private void makeRoom(int length) {
        if (buffer.isTooSmallFor(length)) {
            buffer.grow();
            handOver();
        }
        if (state != State.OPEN) { // earlier, or by a callback of the transport during this flush
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

    /** Sends the written data, now or in the same {@link FlushWindow}. */
    void flush() {
        if (transport.isUnflushed() || !window.defer()) {
            flushNow();
        }
    }

    /** Sends the written data, unless the connection has ended. */
    void flushNow() {
        if (state != State.OPEN) {
            return;
        }
        window.flushed(); // first, because later writes and flushes of callbacks have a separate flush
        if (buffer.open != null) {
            buffer.shrinkIfSmall();
            handOver();
        }
        transport.flush();
    }

    /** Returns the window of the flushes that wait for others. */
    FlushWindow window() {
        return window;
    }

    /** Returns the number of bytes that were written and not passed to the transport yet. */
    int length() {
        return buffer.index;
    }

    long bytesWritten() {
        return transport.bytes() + buffer.index;
    }

    /** Hands over a large buffer, because a cipher or encoder can append any amount and the transport must count it. */
    private void handOverIfLarge() {
        if (buffer.index >= BatchBuffer.MAX_CAPACITY) {
            handOver();
        }
    }

    /** Passes the written data to the transport. */
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
            window.flushed(); // see above
            transport.flush();
        }
    }

    /** Ends the connection with {@code cause}. Drops data not yet passed to the transport, and fails its promises. */
    void fail(Throwable cause) {
        state = State.FAILED;
        failure = cause;
        buffer.drop();
        promises.fail(cause);
    }

    /**
     * Ends the codec's part in the connection. The written data is passed to the transport, which reports its results.
     * Of a message in progress ({@code writing}), no further data is passed.
     */
    void end(boolean writing) {
        state = State.ENDED;
        try {
            if (writing) {
                buffer.cut(messageStart);
            }
            handOver();
        } catch (Throwable e) { // the allocator is out of memory
            fail(e);
        }
    }
}
