package dev.zmtp.codec;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.security.ZMTPMechanism.FrameCipher;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.EncoderException;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Encodes messages at once into one open buffer, which goes to the transport when it is full or at a flush.
 *
 * <p>Small bodies are copied; a big one goes by reference, behind what was copied before it. The promises of the messages
 * that end in a buffer complete with the result of its write. Only the open buffer is unknown to the transport, so the
 * channel's writability is true to within one such buffer.
 *
 * <p>On the channel's event loop only, and not re-entrant: a write to the transport may call back into user code, so
 * {@link Outbound} holds what is written meanwhile.
 */
final class OutboundBatch {

    /** Bodies of up to so many octets are copied. Measured: docs/decisions/003-copy-or-reference.md. */
    static final int COPY_LIMIT = Integer.getInteger("dev.zmtp.copyLimit", 4096);

    private static final int MIN_CAPACITY = 512;
    private static final int MAX_CAPACITY = 64 << 10;
    private static final int SMALL_FLUSHES = 16;

    private final ZMTPCodec codec;
    private final ChannelHandlerContext ctx;
    private final ZMTPVersion version;
    private final @Nullable FrameCipher cipher;
    private final ChannelFutureListener nobodyWaits = written -> written(written, List.of(), false);
    private final ChannelFutureListener onlyVoidsWait = written -> written(written, List.of(), true);

    private @Nullable ByteBuf open;

    /** Where the next octet is put into the open buffer; its own writer index is set when it is given away. */
    private int index;

    /** The capacity of the open buffer; 0, as {@link #index} is, if there is none. */
    private int limit;

    /** Bodies of up to so many octets have a short header and are copied: -1 with a cipher, which has none of these. */
    private final int shortLimit;

    /** Promises of the messages that end in the open buffer; void ones are only remembered to be there. */
    private @Nullable List<ChannelPromise> promises;

    private boolean hasVoid;
    private boolean ended;

    /** What ended the connection, if that was a failure. */
    private @Nullable Throwable failure;

    /** Where in the open buffer the message starts that is being written. */
    private int start;

    /** Whether a part of that message was handed over already. */
    private boolean torn;

    /** Whether the cipher could not seal a frame. What it would make of the next one, the peer need not understand. */
    private boolean unsealed;

    /** Whether an encoder or a cipher is writing to the open buffer. */
    private boolean lent;

    /** What was the open buffer when the connection ended while it was lent. */
    private @Nullable ByteBuf aside;

    /** How large the next buffer will be: what was written between flushes should fit. */
    private int capacity = MIN_CAPACITY;

    /** How many flushes in a row could have done with half of the capacity. */
    private int smallFlushes;

    OutboundBatch(ZMTPCodec codec, ZMTPVersion version, @Nullable FrameCipher cipher) {
        this.codec = codec;
        this.ctx = codec.ctx();
        this.version = version;
        this.cipher = cipher;
        this.shortLimit = cipher == null ? Math.min(COPY_LIMIT, version.maxShortBody()) : -1;
    }

    /** Takes over {@code message} and {@code promise}. */
    void message(ZMTPMessage message, ChannelPromise promise) {
        start();
        try {
            if (isWritable(message, promise)) {
                int last = message.size() - 1;
                for (int i = 0; i < last; i++) {
                    frame(ZMTPVersion.MORE, message.frame(i), null);
                }
                frame(0, message.frame(last), promise);
                sealIfLarge();
            }
        } catch (Throwable e) {
            takeBack(e, promise);
        } finally {
            ReferenceCountUtil.safeRelease(message);
        }
    }

    /** Notes that the next message starts here, and that what was written before is whole. */
    void start() {
        start = index;
        torn = false;
    }

    /** Whether the transport has the beginning of the message that is being written, but not its end. */
    boolean isTorn() {
        return torn;
    }

    /** Takes back what was written since {@link #start}. Only then fails the promise, whose listener may flush. */
    private void takeBack(Throwable cause, ChannelPromise promise) {
        EncoderException refusal = cause instanceof EncoderException known ? known : new EncoderException(cause);
        if (torn || unsealed) {
            codec.fail(refusal); // part of the message is on its way, or its cipher is at its end: nothing can follow
        } else {
            index = start;
        }
        promise.tryFailure(refusal);
    }

    private static boolean isWritable(ZMTPMessage message, ChannelPromise promise) {
        if (!promise.setUncancellable()) {
            return false;
        }
        int size = message.size();
        if (size == 0) {
            promise.tryFailure(new EncoderException("message frames: 0 (expected: >= 1)"));
            return false;
        }
        for (int i = 0; i < size; i++) {
            if (message.frame(i).refCnt() == 0) {
                promise.tryFailure(new EncoderException(
                        "frame " + i + ": released (expected: owned by the message)",
                        new IllegalReferenceCountException(0)));
                return false;
            }
        }
        return true;
    }

    /**
     * Writes one frame of a message, or a command. {@code body} is neither moved nor released; {@code promise} waits behind
     * it, if there is one.
     */
    private void frame(int flags, ByteBuf body, @Nullable ChannelPromise promise) {
        int length = body.readableBytes();
        ByteBuf out = open;
        int at = index;
        if (out == null || length > shortLimit || limit - at < 2 + length) {
            otherFrame(flags, body, length, promise);
            return;
        }
        out.setShort(at, version.shortHeader(flags, length));
        // Not out.setBytes: a buffer of the adaptive allocator is slow to copy from another kind, but quick to copy to.
        body.getBytes(body.readerIndex(), out, at + 2, length);
        index = at + 2 + length;
        if (promise != null) {
            await(promise);
        }
    }

    /** What is not as most frames are: long, sealed, or more than the open buffer has room for. */
    private void otherFrame(int flags, ByteBuf body, int length, @Nullable ChannelPromise promise) {
        if (cipher == null && length > COPY_LIMIT) {
            reference(flags, body, promise);
            return;
        }
        if (cipher != null) {
            if (ended) { // and so the cipher is closed
                throw connectionEnded();
            }
            int sealed = cipher.sealedLength(length);
            ByteBuf out = room(version.headerLengthFor(sealed) + sealed).writerIndex(index);
            version.writeHeader(out, 0, sealed);
            lent = true;
            try {
                cipher.seal(flags, body, out);
            } catch (Throwable e) {
                unsealed = true;
                throw e;
            } finally {
                giveBack();
            }
            continueBehind(out);
        } else {
            ByteBuf out = room(version.headerLengthFor(length) + length).writerIndex(index);
            version.writeHeader(out, flags, length);
            int at = out.writerIndex();
            body.getBytes(body.readerIndex(), out, at, length);
            index = at + length;
        }
        if (promise != null) {
            await(promise);
        }
    }

    /** Writes a frame that stands alone: a command or a subscription. Takes over {@code body} and {@code promise}. */
    void value(int flags, ByteBuf body, ChannelPromise promise) {
        start();
        try {
            if (promise.setUncancellable()) {
                frame(flags, body, promise);
                sealIfLarge();
            }
        } catch (Throwable e) {
            takeBack(e, promise);
        } finally {
            body.release();
        }
    }

    /** Sends the body itself; the duplicate has indices of its own, as the message may be on its way to others too. */
    private void reference(int flags, ByteBuf body, @Nullable ChannelPromise promise) {
        int length = body.readableBytes();
        ByteBuf header = room(version.headerLengthFor(length)).writerIndex(index);
        version.writeHeader(header, flags, length);
        index = header.writerIndex();
        ByteBuf referenced = body.retainedDuplicate(); // first: with a body that was released, nothing must leave
        seal();
        if (ended) { // by a callback of the transport's just now: a body must not go without its header
            referenced.release();
            throw connectionEnded();
        }
        torn = promise == null; // else this is the end of the message, and a callback finds it whole
        if (promise == null) {
            ctx.write(referenced).addListener(nobodyWaits);
        } else if (promise.isVoid()) {
            ctx.write(referenced).addListener(onlyVoidsWait);
        } else {
            ctx.write(referenced).addListener(whenWritten(List.of(promise), false));
        }
    }

    /** Takes over {@code message}, which {@code encoder} writes, and {@code promise}. */
    void encode(
            Object message, ZMTPEncoder encoder, ZMTPEstimator estimator, ZMTPWriter writer, ChannelPromise promise) {
        start();
        try {
            if (promise.setUncancellable()) {
                estimator.reset();
                encoder.estimate(message, estimator);
                if (cipher == null) {
                    ByteBuf out = room(estimator.size()).writerIndex(index);
                    lent = true;
                    try {
                        writer.begin(out);
                        encoder.encode(message, writer);
                        writer.end();
                    } finally {
                        giveBack();
                    }
                    continueBehind(out);
                } else {
                    encodeSealed(message, encoder, writer, estimator.size());
                }
                await(promise);
                sealIfLarge();
            }
        } catch (Throwable e) {
            takeBack(e, promise);
        } finally {
            ReferenceCountUtil.safeRelease(message);
        }
    }

    private void encodeSealed(Object message, ZMTPEncoder encoder, ZMTPWriter writer, int size) {
        ByteBuf plain = ctx.alloc().buffer(size);
        try {
            writer.begin(plain);
            encoder.encode(message, writer);
            writer.end();
            ZMTPMessage frames = Objects.requireNonNull(ZMTPMessage.read(plain, version));
            try {
                for (int i = 0, last = frames.size() - 1; i <= last; i++) {
                    frame(i < last ? ZMTPVersion.MORE : 0, frames.frame(i), null);
                }
            } finally {
                frames.release();
            }
        } finally {
            plain.release();
        }
    }

    /** Goes on behind what an encoder or a cipher has written, unless that has ended the connection. */
    private void continueBehind(ByteBuf out) {
        if (!ended) {
            index = out.writerIndex();
            limit = out.capacity();
        }
    }

    /** The encoder or cipher is done with the buffer that was lent to it: it goes if the connection ended meanwhile. */
    private void giveBack() {
        lent = false;
        if (aside != null) {
            aside.release();
            aside = null;
        }
    }

    /** What an encoder or a cipher writes may be of any size, and the transport must know of it. */
    private void sealIfLarge() {
        if (index >= MAX_CAPACITY) {
            seal();
        }
    }

    /** Notes that a message ends here: whatever a callback does from now on, such as one of its release, it is whole. */
    private void await(ChannelPromise promise) {
        if (ended) { // a callback closed the channel while the message was written
            promise.tryFailure(failure == null ? new ClosedChannelException() : failure);
            return;
        }
        start();
        if (promise.isVoid()) {
            hasVoid = true;
            return;
        }
        if (promises == null) {
            promises = new ArrayList<>(4);
        }
        promises.add(promise);
    }

    /** The open buffer, with room for so many octets behind {@link #index}. */
    private ByteBuf room(int octets) {
        if (open != null && limit - index < octets) {
            capacity = Math.min(MAX_CAPACITY, capacity * 2);
            smallFlushes = 0;
            seal();
        }
        if (ended) { // before, or by a callback of the transport's just now
            throw connectionEnded();
        }
        ByteBuf out = open;
        if (out == null) {
            out = ctx.alloc().ioBuffer(Math.max(octets, capacity));
            open = out;
            limit = out.capacity();
        }
        return out;
    }

    private EncoderException connectionEnded() {
        return new EncoderException("the connection ended", failure == null ? new ClosedChannelException() : failure);
    }

    /** Hands what was written to the transport and lets it go. */
    void flush() {
        if (open != null) {
            shrinkIfSmall(index);
            seal();
        }
        ctx.flush();
    }

    /** Slowly, for one large flush in a few must not cost a second buffer each time. */
    private void shrinkIfSmall(int flushed) {
        if (flushed >= capacity / 2 || capacity == MIN_CAPACITY) {
            smallFlushes = 0;
        } else if (++smallFlushes == SMALL_FLUSHES) {
            smallFlushes = 0;
            capacity /= 2;
        }
    }

    /** Hands what was written to the transport. */
    void seal() {
        ByteBuf full = open;
        if (full == null) {
            return;
        }
        List<ChannelPromise> waiting = promises;
        boolean voidWaits = hasVoid;
        int end = index;
        clear();
        promises = null;
        hasVoid = false;
        torn |= end > start;
        start = 0;
        if (end == 0) {
            full.release();
            return;
        }
        full.writerIndex(end);
        ctx.write(full)
                .addListener(
                        waiting != null ? whenWritten(waiting, voidWaits) : voidWaits ? onlyVoidsWait : nobodyWaits);
    }

    private void clear() {
        open = null;
        index = 0;
        limit = 0;
    }

    private ChannelFutureListener whenWritten(List<ChannelPromise> waiting, boolean voidWaits) {
        return written -> written(written, waiting, voidWaits);
    }

    private void written(ChannelFuture written, List<ChannelPromise> waiting, boolean voidWaits) {
        Throwable cause = written.cause();
        if (cause == null) {
            for (int i = 0; i < waiting.size(); i++) {
                waiting.get(i).trySuccess();
            }
            return;
        }
        if (!ended && ctx.channel().isActive() && !codec.isClosed()) {
            // The codec first: a listener that writes again must not do so behind octets that are missing.
            List<ChannelPromise> all = new ArrayList<>(waiting);
            if (promises != null) {
                all.addAll(promises);
            }
            promises = all;
            codec.writeFailed(cause, voidWaits);
            return;
        }
        for (int i = 0; i < waiting.size(); i++) {
            waiting.get(i).tryFailure(cause);
        }
        codec.writeFailed(cause, voidWaits);
    }

    /** Ends the connection with {@code cause}: drops what the transport has not got, and fails its promises. */
    void fail(Throwable cause) {
        ended = true;
        failure = cause;
        if (lent) {
            aside = open; // who writes to it must not find himself in a buffer that someone else has got
            clear();
        } else if (open != null) {
            open.release();
            clear();
        }
        List<ChannelPromise> waiting = promises;
        promises = null;
        if (waiting != null) {
            waiting.forEach(promise -> promise.tryFailure(cause));
        }
    }

    /**
     * Ends the codec's part in the connection: the transport gets what was written, and answers for it. Of a message that
     * is being written ({@code writing}) it gets no more.
     */
    void end(boolean writing) {
        ended = true;
        if (writing) {
            index = start;
        }
        if (lent) {
            keepWhole();
        }
        seal();
    }

    /** Leaves the open buffer to whoever writes to it, and copies its whole messages to another. */
    private void keepWhole() {
        ByteBuf whole = null;
        if (index > 0) {
            try {
                whole = ctx.alloc().ioBuffer(index).writeBytes(Objects.requireNonNull(open), 0, index);
            } catch (Throwable e) { // the allocator has no more memory
                fail(e);
                return;
            }
        }
        aside = open;
        open = whole;
    }
}
