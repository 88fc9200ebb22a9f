package dev.zmtp.internal.connection;

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
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Writes that cannot be encoded yet, in order, and the flush that was asked for after them: those before the end of the
 * handshake, and those that a callback makes while another write is being encoded.
 *
 * <p>They count towards the channel's writability, with its own water marks: more than the high one makes it
 * unwritable, less than the low one writable again. More than the configured bound fails the write.
 */
public final class HeldWrites {

    /** Which of the channel's user-defined writability flags is ours. Netty's traffic shapers use the low ones. */
    private static final int WRITABILITY_INDEX = 31;

    /** A write, and how many bytes it counts for. */
    public record HeldWrite(Object message, ChannelPromise promise, long size) {}

    private final ChannelHandlerContext ctx;
    private final Channel channel;
    private final MessageSizeEstimator.Handle estimator;

    /** Null while nothing is held: a queue does not shrink, and one that was long would stay so for life. */
    private @Nullable Queue<HeldWrite> writes;

    private long size;
    private boolean writable = true;
    private boolean flushRequested;

    HeldWrites(ChannelHandlerContext ctx) {
        this.ctx = ctx;
        this.channel = ctx.channel();
        this.estimator = channel.config().getMessageSizeEstimator().newHandle();
    }

    public boolean isEmpty() {
        return writes == null;
    }

    /** The bytes that are held, with their overhead. */
    long size() {
        return size;
    }

    /** Takes over a write, or fails it if more than {@code maxSize} bytes would be held. */
    public void add(Object message, ChannelPromise promise, long maxSize) {
        long added = sizeOf(message);
        if (size + added > maxSize) {
            ReferenceCountUtil.safeRelease(message);
            refuse(promise, size + added, maxSize);
            return;
        }
        if (writes == null) {
            writes = new ArrayDeque<>();
        }
        writes.add(new HeldWrite(message, promise, added));
        size += added;
        updateWritability();
    }

    private void refuse(ChannelPromise promise, long wanted, long maxSize) {
        EncoderException failure =
                new EncoderException("held writes: " + wanted + " bytes (expected: <= " + maxSize + ")");
        if (promise.isVoid()) {
            // Such a promise would fire through the whole pipeline, and the codec would take it for the end of the
            // handshake.
            ctx.fireExceptionCaught(failure);
        } else {
            promise.tryFailure(failure);
        }
    }

    private long sizeOf(Object message) {
        return message instanceof ZMTPMessage frames && frames.size() > 0
                ? Overhead.sizeOf(frames)
                : Overhead.PER_FRAME + (long) Math.max(0, estimator.size(message));
    }

    /** The user has asked for a flush of what is held. */
    public void requestFlush() {
        flushRequested = true;
    }

    /** Returns whether a flush was requested since the last call. To be called when what was held has been written. */
    public boolean takeFlushRequest() {
        boolean taken = flushRequested;
        flushRequested = false;
        return taken;
    }

    /** Removes and returns the oldest write, which the caller must complete; null if there is none. */
    @Nullable
    public HeldWrite poll() {
        if (writes == null) {
            return null;
        }
        HeldWrite held = writes.remove();
        if (writes.isEmpty()) {
            writes = null;
        }
        size -= held.size;
        updateWritability();
        return held;
    }

    /** Releases all that is held and fails the promises, also of writes that their listeners make. */
    void fail(Throwable cause) {
        flushRequested = false;
        for (HeldWrite held = poll(); held != null; held = poll()) {
            ReferenceCountUtil.safeRelease(held.message);
            if (!held.promise.isVoid()) { // what ends the connection is reported by itself, once
                held.promise.tryFailure(cause);
            }
        }
    }

    private void updateWritability() {
        ChannelConfig config = channel.config();
        // Two marks, as the transport has: one message less and one more must not be an event each time.
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
