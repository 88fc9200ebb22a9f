package dev.zmtp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.Recycler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;
import io.netty.util.ResourceLeakTracker;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Message of one or more frames of any bytes, sent and received as a whole (RFC 37, "Framing").
 *
 * <p><b>Ownership.</b> A message owns its frames. It takes them over when it is created, and releases them when it is
 * released. A received message has a reference count of 1 and belongs to the handler that receives it. A written
 * message belongs to the codec, which releases it exactly once, whether or not the write succeeds. The frames returned
 * by {@link #frame(int)} and the iterator are not retained, so retain a frame that has to outlive its message.
 *
 * <p><b>Recycling.</b> Messages are recycled by the thread that created them, at most {@value #MAX_RECYCLED} per
 * thread. As with any pooled buffer of Netty, do not use a released message, because it can already be another message.
 * Until it is reused, access to its frames throws an {@link IllegalReferenceCountException}, and its size is 0.
 *
 * <p>Only {@link #prepend} and {@link #removeFirst} change the list of frames. The buffers are as mutable as any
 * {@link ByteBuf}. The codec does not move their indices, so a message can be retained and written to many channels. A
 * message is as thread safe as its buffers.
 */
public final class ZMTPMessage extends FrameList implements ReferenceCounted {

    private static final int MAX_RECYCLED = 512;

    private static final Recycler<ZMTPMessage> RECYCLER = new Recycler<>(MAX_RECYCLED) {
        @Override
        protected ZMTPMessage newObject(Handle<ZMTPMessage> handle) {
            return new ZMTPMessage((EnhancedHandle<ZMTPMessage>) handle);
        }
    };

    private static final MessageLeaks LEAKS = new MessageLeaks();

    private final ReferenceCount references = new ReferenceCount();

    /** Handle of the message in the pool; null for a builder's own message. */
    private final Recycler.@Nullable EnhancedHandle<ZMTPMessage> handle;

    /** Whether a builder's own message is free for reuse. */
    private final AtomicBoolean idle = new AtomicBoolean(true);

    /** Set if there are small frames, because a missing release would go unnoticed otherwise. */
    private @Nullable ResourceLeakTracker<ZMTPMessage> leak;

    private ZMTPMessage(Recycler.@Nullable EnhancedHandle<ZMTPMessage> handle) {
        this.handle = handle;
    }

    private static ZMTPMessage empty() {
        ZMTPMessage message = RECYCLER.get();
        message.references.start();
        return message;
    }

    /** Returns a message of a single frame, which the message takes over. */
    public static ZMTPMessage from(ByteBuf frame) {
        Objects.requireNonNull(frame, "frame");
        ZMTPMessage message = empty();
        message.add(frame);
        return message;
    }

    /** Returns a message of these frames, which the message takes over. The array itself is copied. */
    public static ZMTPMessage from(ByteBuf... frames) {
        return of(frames);
    }

    /** Returns a message of these frames, which the message takes over. */
    public static ZMTPMessage from(Collection<? extends ByteBuf> frames) {
        return of(frames.toArray(ByteBuf[]::new));
    }

    /** Returns a message with a UTF-8 frame for each string. */
    public static ZMTPMessage fromUTF8(CharSequence... frames) {
        return from(StandardCharsets.UTF_8, frames);
    }

    /** Returns a message with a UTF-8 frame for each string, in buffers of {@code alloc}. */
    public static ZMTPMessage fromUTF8(ByteBufAllocator alloc, CharSequence... frames) {
        return from(alloc, StandardCharsets.UTF_8, frames);
    }

    /** Returns a message with a UTF-8 frame for each string. */
    public static ZMTPMessage fromUTF8(Iterable<? extends CharSequence> frames) {
        return from(StandardCharsets.UTF_8, frames);
    }

    /** Returns a message with a UTF-8 frame for each string, in buffers of {@code alloc}. */
    public static ZMTPMessage fromUTF8(ByteBufAllocator alloc, Iterable<? extends CharSequence> frames) {
        return from(alloc, StandardCharsets.UTF_8, frames);
    }

    /** Returns a message with a frame for each string. */
    public static ZMTPMessage from(Charset charset, CharSequence... frames) {
        return from(ByteBufAllocator.DEFAULT, charset, frames);
    }

    /** Returns a message with a frame for each string, in buffers of {@code alloc}. */
    public static ZMTPMessage from(ByteBufAllocator alloc, Charset charset, CharSequence... frames) {
        return from(alloc, charset, Arrays.asList(frames));
    }

    /** Returns a message with a frame for each string. */
    public static ZMTPMessage from(Charset charset, Iterable<? extends CharSequence> frames) {
        return from(ByteBufAllocator.DEFAULT, charset, frames);
    }

    /** Returns a message with a frame for each string, in buffers of {@code alloc}. */
    public static ZMTPMessage from(ByteBufAllocator alloc, Charset charset, Iterable<? extends CharSequence> frames) {
        return from(TextFrames.encode(alloc, charset, frames));
    }

    private static ZMTPMessage of(ByteBuf[] frames) {
        if (Arrays.asList(frames).contains(null)) {
            Arrays.asList(frames).forEach(ReferenceCountUtil::safeRelease); // they were handed over all the same
            throw new NullPointerException("frame");
        }
        ZMTPMessage message = empty();
        message.ensureCapacity(frames.length);
        for (ByteBuf frame : frames) {
            message.add(frame);
        }
        return message;
    }

    // Frames

    /**
     * Returns a new message with {@code frame} before the frames of this message.
     *
     * <p>The new message takes over {@code frame} and retains the other frames. The caller still owns this message.
     *
     * @throws IllegalReferenceCountException if the message or a frame was released; {@code frame} is then released too
     */
    public ZMTPMessage push(ByteBuf frame) {
        Objects.requireNonNull(frame, "frame");
        if (refCnt() == 0) { // otherwise the new message could be this one, recycled
            frame.release();
            throw new IllegalReferenceCountException(0);
        }
        ZMTPMessage more = empty();
        more.ensureCapacity(size() + 1);
        more.add(frame);
        return more.withRetained(this, 0);
    }

    /**
     * Returns a new message without the first frame of this message.
     *
     * <p>The new message retains its frames. The caller still owns this message and must release it.
     *
     * @throws IllegalStateException if there is no frame
     * @throws IllegalReferenceCountException if the message or one of its frames was released
     */
    public ZMTPMessage pop() {
        ensureAccessible();
        if (size() == 0) {
            throw new IllegalStateException("frames: 0 (expected: >= 1)");
        }
        ZMTPMessage rest = empty();
        rest.ensureCapacity(size() - 1);
        return rest.withRetained(this, 1);
    }

    /**
     * Returns a copy with its own bytes, to be released by the caller. This message does not change.
     *
     * <p>Copy messages that you keep, such as the last value of each topic. A received frame of more than 1 KiB is a
     * slice of a larger read, which remains in memory while the frame is retained. No memory budget counts it.
     *
     * @throws IllegalReferenceCountException if the message or one of its frames was released
     */
    public ZMTPMessage copy() {
        return from(WireForm.copy(this, ByteBufAllocator.DEFAULT));
    }

    private ZMTPMessage withRetained(ZMTPMessage other, int from) {
        try {
            addRetained(other, from);
            return this;
        } catch (Throwable e) { // a frame was released
            release();
            throw e;
        }
    }

    // The wire

    /**
     * Reads a message from {@code in}, in the framing of {@code version}. This is the inverse of {@link #write}.
     *
     * <p>The frames are retained slices of {@code in}, whose reader index moves to the end of the message. The caller
     * still owns {@code in}, whose size is the only limit.
     *
     * @return the message, to be released by the caller; or null, with {@code in} unmoved, if the message is incomplete
     * @throws ZMTPException if the bytes are not a message; {@code in} is unmoved
     */
    public static @Nullable ZMTPMessage read(ByteBuf in, ZMTPVersion version) {
        List<ByteBuf> frames = WireForm.read(in, version);
        return frames == null ? null : from(frames);
    }

    /**
     * Returns the bytes of this message in the framing of {@code version}, to be released by the caller. The message
     * does not change and is not released.
     *
     * @throws IllegalReferenceCountException if the message or one of its frames was released
     */
    public ByteBuf write(ZMTPVersion version) {
        return write(ByteBufAllocator.DEFAULT, version);
    }

    /** Like {@link #write(ZMTPVersion)}, in a buffer of {@code alloc}. */
    public ByteBuf write(ByteBufAllocator alloc, ZMTPVersion version) {
        ensureAccessible();
        return shared == null ? WireForm.of(this, alloc, version) : shared.get(this, alloc, version);
    }

    /**
     * Appends this message to {@code out}, in the framing of {@code version}. The message does not change.
     *
     * @throws IllegalReferenceCountException if the message or one of its frames was released
     */
    public void write(ByteBuf out, ZMTPVersion version) {
        ensureAccessible();
        WireForm.write(this, out, version);
    }

    /**
     * Lets all channels that the message is written to share its encoded bytes. Call this before the first write of a
     * message of several frames to many channels, and do not change the bytes of its frames afterwards.
     *
     * <p>The encoded bytes are kept until the message is released, which doubles its memory. {@code write} returns
     * them. Channels with CURVE, whose bytes all differ, and channels with a custom encoder do not use them.
     *
     * @return this message
     * @throws IllegalReferenceCountException if the message was released
     */
    public ZMTPMessage encodeOnce() {
        ensureAccessible();
        SharedForm.attachTo(this);
        return this;
    }

    // References

    @Override
    public int refCnt() {
        return references.get();
    }

    @Override
    void ensureAccessible() {
        if (refCnt() == 0) {
            throw new IllegalReferenceCountException(0);
        }
    }

    @Override
    public ZMTPMessage retain() {
        return retain(1);
    }

    @Override
    public ZMTPMessage retain(int increment) {
        references.retain(increment);
        return this;
    }

    @Override
    public boolean release() {
        return references.release() && recycle();
    }

    @Override
    public boolean release(int decrement) {
        return references.release(decrement) && recycle();
    }

    private boolean recycle() {
        if (leak != null) {
            leak.close(this);
            leak = null;
        }
        releaseFrames();
        if (handle != null) {
            handle.unguardedRecycle(this);
        } else {
            idle.setRelease(true); // last: the builder may be on another thread
        }
        return true;
    }

    @Override
    public ZMTPMessage touch() {
        return touch(null);
    }

    @Override
    public ZMTPMessage touch(@Nullable Object hint) {
        if (leak != null && LEAKS.records()) {
            leak.record(hint);
        }
        touchFrames(hint);
        return this;
    }

    /** Returns whether {@code other} is a message with the same number of frames and the same readable bytes. */
    @Override
    public boolean equals(@Nullable Object other) {
        return this == other || (other instanceof ZMTPMessage that && equalFrames(that));
    }

    @Override
    public int hashCode() {
        return hashFrames();
    }

    /**
     * Returns the first frames and their first bytes, as text if they are printable ASCII, otherwise in hex. The length
     * is bounded, and the method is safe for any bytes and for a released message.
     */
    @Override
    public String toString() {
        return "ZMTPMessage{" + (refCnt() == 0 ? "released" : showFrames()) + "}";
    }

    /**
     * Builder that collects the frames of a message, and can then be reused for the next message.
     *
     * <p>The builder owns the frames until {@link #build}, or until {@link #clear} releases them. Not thread safe.
     */
    public static final class Builder {

        /**
         * Maximum length of a frame that {@link #copy} puts into memory that is recycled with the message, in bytes
         * ({@value}). Copying such a frame costs no more than retaining it, and does not keep the original buffer.
         */
        public static final int MAX_RECYCLED_FRAME = FrameList.MAX_SMALL_LENGTH;

        /** Reused for each message if it is released before the next message begins; null before the first message. */
        private @Nullable ZMTPMessage own;

        private @Nullable ZMTPMessage message;

        /** Whether there is a small frame. */
        private boolean small;

        /** Creates a builder without frames. */
        public Builder() {}

        /** Returns the number of collected frames. */
        public int size() {
            return message == null ? 0 : message.size();
        }

        /** Adds {@code frame}, which the message takes over. */
        public Builder add(ByteBuf frame) {
            Objects.requireNonNull(frame, "frame");
            open().add(frame);
            return this;
        }

        /**
         * Adds a frame with a copy of the next {@code length} bytes of {@code in}, whose reader index moves past them.
         * The caller still owns {@code in}.
         *
         * <p>Among the first 8 frames of a message, a frame of at most {@value #MAX_RECYCLED_FRAME} bytes needs no
         * memory from an allocator, because its buffer belongs to the message and is recycled with it.
         *
         * @throws IndexOutOfBoundsException if {@code in} has fewer readable bytes
         */
        public Builder copy(ByteBuf in, int length) {
            if (length < 0 || length > in.readableBytes()) {
                throw new IndexOutOfBoundsException(
                        "length: " + length + " (expected: 0 to " + in.readableBytes() + ")");
            }
            small |= open().copy(in, length);
            return this;
        }

        private ZMTPMessage open() {
            if (message == null) {
                message = begin();
            }
            return message;
        }

        private ZMTPMessage begin() {
            if (own == null) {
                own = new ZMTPMessage(null);
            }
            if (!own.idle.getAcquire()) {
                return empty();
            }
            own.idle.setPlain(false);
            own.references.start();
            return own;
        }

        /** Copies the small frames after the eighth together and releases their buffers. The message gets slices. */
        public void compact() {
            if (message != null) {
                message.compact();
            }
        }

        /** Returns the memory of the frames that were added before the last {@link #compact}, in bytes. */
        public long memory() {
            return message == null ? 0 : message.memory();
        }

        /** Returns a message of the collected frames, to be released by the caller. The builder is empty afterwards. */
        public ZMTPMessage build() {
            ZMTPMessage built = open();
            built.unpack();
            if (small) {
                built.leak = LEAKS.track(built, built.handle == null);
                small = false;
            }
            message = null;
            return built;
        }

        /** Releases the collected frames. The builder is empty afterwards. */
        public void clear() {
            small = false;
            if (message != null) {
                message.release();
                message = null;
            }
        }
    }
}
