package dev.zmtp.codec;

import dev.zmtp.ZMTPMessage;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.MessageSizeEstimator;
import io.netty.handler.codec.EncoderException;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Writes that cannot be encoded yet, in order: those before the handshake, and those that a callback makes while another
 * write is being encoded.
 *
 * <p>They count towards the channel's writability, with its own water marks: more than the high one makes it unwritable,
 * less than the low one writable again. More of the former than the configured bound fails the write.
 */
final class HeldWrites {

    /** Which of the channel's user-defined writability flags is ours. Netty's traffic shapers use the low ones. */
    private static final int WRITABILITY_INDEX = 31;

    private record Held(Object message, ChannelPromise promise, long size) {}

    private final ChannelHandlerContext ctx;
    private final Channel channel;
    private final MessageSizeEstimator.Handle estimator;
    private final ArrayDeque<Held> writes = new ArrayDeque<>(0);
    private long size;
    private boolean writable = true;
    private boolean flush;

    HeldWrites(ChannelHandlerContext ctx) {
        this.ctx = ctx;
        this.channel = ctx.channel();
        this.estimator = channel.config().getMessageSizeEstimator().newHandle();
    }

    boolean isEmpty() {
        return writes.isEmpty();
    }

    /** Takes over a write, or fails it if more than {@code maxSize} octets would be held. */
    void add(Object message, ChannelPromise promise, long maxSize) {
        long added = sizeOf(message);
        if (size + added > maxSize) {
            ReferenceCountUtil.safeRelease(message);
            refuse(promise, size + added, maxSize);
            return;
        }
        writes.add(new Held(message, promise, added));
        size += added;
        updateWritability();
    }

    private void refuse(ChannelPromise promise, long wanted, long maxSize) {
        EncoderException failure =
                new EncoderException("held writes: " + wanted + " octets (expected: <= " + maxSize + ")");
        if (promise.isVoid()) {
            // Such a promise would tell the whole pipeline, and the codec would take it for the end of the handshake.
            ctx.fireExceptionCaught(failure);
        } else {
            promise.tryFailure(failure);
        }
    }

    private long sizeOf(Object message) {
        return message instanceof ZMTPMessage frames && frames.size() > 0
                ? MessageSizes.of(frames)
                : MessageSizes.OVERHEAD + (long) Math.max(0, estimator.size(message));
    }

    /** Remembers that the user has asked for a flush. */
    void flush() {
        flush = true;
    }

    /** Whether a flush was asked for since the last call. Asked once what was held has been written. */
    boolean takeFlush() {
        boolean taken = flush;
        flush = false;
        return taken;
    }

    /** Hands the oldest held write to {@code outbound}, if there is one. */
    void writeNext(Outbound outbound) {
        Held held = remove();
        if (held != null) {
            outbound.encode(held.message, held.promise);
        }
    }

    /** Releases all that is held and fails the promises, also of writes that the listeners make. */
    void fail(Throwable cause) {
        flush = false;
        for (Held held = remove(); held != null; held = remove()) {
            ReferenceCountUtil.safeRelease(held.message);
            held.promise.tryFailure(cause);
        }
    }

    private @Nullable Held remove() {
        Held held = writes.poll();
        if (held != null) {
            size -= held.size;
            updateWritability();
        }
        return held;
    }

    private void updateWritability() {
        ChannelConfig config = channel.config();
        // Two marks, as the transport has, so that one message less and one more does not tell everybody twice.
        boolean now = writable
                ? size <= config.getWriteBufferHighWaterMark()
                : size == 0 || size < config.getWriteBufferLowWaterMark();
        if (now == writable) {
            return;
        }
        writable = now;
        ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
        if (buffer != null) {
            buffer.setUserDefinedWritability(WRITABILITY_INDEX, now);
        }
    }
}
