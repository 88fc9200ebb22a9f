package dev.zmtp.internal.connection;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.ConsistentDeque;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.MessageSizeEstimator;
import io.netty.handler.codec.EncoderException;
import io.netty.util.ReferenceCountUtil;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Writes that cannot be encoded yet, in order, and a flush that was requested after them. These are writes before the
 * end of the handshake, and writes that a callback makes while another write is being encoded.
 *
 * <p>They count towards the channel's writability, with its own water marks. Above the high water mark the channel
 * becomes unwritable, and below the low water mark writable again. A write that exceeds the configured limit fails.
 */
public final class HeldWrites {

    /**
     * The index of the channel's user-defined writability flag that the codec uses. Netty's traffic shapers use low
     * indexes.
     */
    private static final int WRITABILITY_INDEX = 31;

    /** A write, and the number of bytes that it counts for. */
    public record HeldWrite(Object message, ChannelPromise promise, long size) {}

    private final ChannelHandlerContext ctx;
    private final Channel channel;
    private final MessageSizeEstimator.Handle estimator;

    /**
     * Null while nothing is held. A queue does not shrink, so a long queue would keep its size for the life of the
     * connection.
     */
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

    /** Returns the number of held bytes, including their overhead. */
    long size() {
        return size;
    }

    /** Takes ownership of a write, or fails it if more than {@code maxSize} bytes would be held. */
    public void add(Object message, ChannelPromise promise, long maxSize) {
        long added = sizeOf(message);
        if (size + added > maxSize) {
            ReferenceCountUtil.safeRelease(message);
            refuse(promise, size + added, maxSize);
            return;
        }
        Queue<HeldWrite> all = writes == null ? new ConsistentDeque<>() : writes;
        all.add(new HeldWrite(message, promise, added));
        writes = all; // only now, because there might be no memory for the first
        size += added;
        updateWritability();
    }

    private void refuse(ChannelPromise promise, long wanted, long maxSize) {
        EncoderException failure =
                new EncoderException("held writes: " + wanted + " bytes (expected: <= " + maxSize + ")");
        if (promise.isVoid()) {
            // A void promise would fire its failure through the whole pipeline, and the codec would treat it as the end
            // of the handshake.
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

    /** Called when the user requests a flush of the held writes. */
    public void requestFlush() {
        flushRequested = true;
    }

    /** Returns whether a flush was requested since the last call. Called after the held writes have been written. */
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

    /** Releases all held writes and fails their promises, including those of writes that their listeners make. */
    void fail(Throwable cause) {
        flushRequested = false;
        for (HeldWrite held = poll(); held != null; held = poll()) {
            ReferenceCountUtil.safeRelease(held.message);
            if (!held.promise.isVoid()) { // the end of the connection is reported separately, once
                held.promise.tryFailure(cause);
            }
        }
    }

    private void updateWritability() {
        ChannelConfig config = channel.config();
        // Two marks, like those of the transport, so that an additional or removed message does not fire an event each
        // time.
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
