package dev.zmtp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.Recycler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import io.netty.util.ResourceLeakTracker;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A message: one or more frames of any octets, sent and received as a whole (RFC 37, "Framing").
 *
 * <p><b>Ownership.</b> A message owns its frames: whoever creates one hands the frames over, and the frames are released
 * when the message is. A received message has a reference count of 1 and belongs to the handler that receives it. A
 * written message belongs to the codec, which releases it exactly once, whatever becomes of the write. The frames that
 * {@link #frame(int)} and the iterator give are not retained: retain what should outlive the message.
 *
 * <p><b>Recycling.</b> Messages are recycled by the thread that made them, at most {@value #MAX_RECYCLED} a thread: as with
 * any pooled buffer of Netty, who touches a message after its release may touch another one.
 *
 * <p>The list of frames is immutable; the buffers themselves are as mutable as any {@link ByteBuf}. The codec does not move
 * their indices, so one message can be retained and written to many channels. Not more thread safe than the buffers are.
 */
public final class ZMTPMessage implements ReferenceCounted, Iterable<ByteBuf> {

    /** Frames of up to so many octets are copied by {@link Builder#copy}, into buffers that stay with the message. */
    private static final int MAX_OWN_LENGTH = 1024;

    private static final int MAX_OWN_FRAMES = 8;
    private static final int MAX_RECYCLED = 512;

    private static final int SHOWN_FRAMES = 8;
    private static final int SHOWN_OCTETS = 32;
    private static final ByteBuf[] NO_FRAMES = {};

    private static final ResourceLeakDetector<ZMTPMessage> LEAKS =
            ResourceLeakDetectorFactory.instance().newResourceLeakDetector(ZMTPMessage.class);

    private static final Recycler<ZMTPMessage> RECYCLER = new Recycler<>(MAX_RECYCLED) {
        @Override
        protected ZMTPMessage newObject(Handle<ZMTPMessage> handle) {
            return new ZMTPMessage((EnhancedHandle<ZMTPMessage>) handle);
        }
    };

    /** Null for the one that a builder keeps for itself. */
    private final Recycler.@Nullable EnhancedHandle<ZMTPMessage> handle;

    @SuppressWarnings("UnusedVariable") // by REFERENCES
    private int references;

    /** Whether a builder may use its own one again. Written last by the thread that releases it. */
    @SuppressWarnings("UnusedVariable") // by IDLE
    private boolean idle;

    /** The frames; behind them nulls, or buffers of {@link #own}, which are likely to be the next ones again. */
    private @Nullable ByteBuf[] frames = new ByteBuf[1];

    private int size;

    /** Buffers for small frames that stay with this object when it is recycled, each for the frame at the same place. */
    private final @Nullable ByteBuf[] own = new ByteBuf[MAX_OWN_FRAMES];

    /** Tells of a message of copied frames that was not released: their buffers are nobody's loss, and so are not tracked. */
    private @Nullable ResourceLeakTracker<ZMTPMessage> leak;

    private static final VarHandle REFERENCES;
    private static final VarHandle IDLE;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            REFERENCES = lookup.findVarHandle(ZMTPMessage.class, "references", int.class);
            IDLE = lookup.findVarHandle(ZMTPMessage.class, "idle", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private ZMTPMessage(Recycler.@Nullable EnhancedHandle<ZMTPMessage> handle) {
        this.handle = handle;
    }

    private static ZMTPMessage empty() {
        ZMTPMessage message = RECYCLER.get();
        message.references = 1;
        return message;
    }

    /** Returns a message of one frame, which it takes over. */
    public static ZMTPMessage from(ByteBuf frame) {
        Objects.requireNonNull(frame, "frame");
        ZMTPMessage message = empty();
        message.frames[0] = frame;
        message.size = 1;
        return message;
    }

    /** Returns a message of these frames, which it takes over. The array itself is copied. */
    public static ZMTPMessage from(ByteBuf... frames) {
        return of(frames);
    }

    /** Returns a message of these frames, which it takes over. */
    public static ZMTPMessage from(Collection<? extends ByteBuf> frames) {
        return of(frames.toArray(NO_FRAMES));
    }

    /** Returns a message with a frame of UTF-8 for each string. */
    public static ZMTPMessage fromUTF8(CharSequence... frames) {
        return from(StandardCharsets.UTF_8, frames);
    }

    /** Returns a message with a frame of UTF-8 for each string, in buffers of {@code alloc}. */
    public static ZMTPMessage fromUTF8(ByteBufAllocator alloc, CharSequence... frames) {
        return from(alloc, StandardCharsets.UTF_8, frames);
    }

    /** Returns a message with a frame of UTF-8 for each string. */
    public static ZMTPMessage fromUTF8(Iterable<? extends CharSequence> frames) {
        return from(StandardCharsets.UTF_8, frames);
    }

    /** Returns a message with a frame of UTF-8 for each string, in buffers of {@code alloc}. */
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
        List<ByteBuf> encoded = new ArrayList<>();
        try {
            for (CharSequence frame : frames) {
                encoded.add(encode(alloc, charset, frame));
            }
        } catch (Throwable e) {
            encoded.forEach(ReferenceCountUtil::safeRelease);
            throw e;
        }
        return from(encoded);
    }

    private static ByteBuf encode(ByteBufAllocator alloc, Charset charset, CharSequence text) {
        if (text.isEmpty()) {
            return Unpooled.EMPTY_BUFFER;
        }
        if (charset.equals(StandardCharsets.UTF_8)) {
            return ByteBufUtil.writeUtf8(alloc, text);
        }
        byte[] octets = text.toString().getBytes(charset);
        return alloc.buffer(octets.length).writeBytes(octets);
    }

    private static ZMTPMessage of(ByteBuf[] frames) {
        try {
            for (ByteBuf frame : frames) {
                Objects.requireNonNull(frame, "frame");
            }
        } catch (NullPointerException e) {
            for (ByteBuf frame : frames) {
                ReferenceCountUtil.safeRelease(frame); // whoever hands frames over has let go of them
            }
            throw e;
        }
        ZMTPMessage message = empty();
        message.ensureCapacity(frames.length);
        System.arraycopy(frames, 0, message.frames, 0, frames.length);
        message.size = frames.length;
        return message;
    }

    private void ensureCapacity(int capacity) {
        if (frames.length < capacity) {
            frames = Arrays.copyOf(frames, Math.max(capacity, Math.min(2 * frames.length, MAX_OWN_FRAMES)));
        }
    }

    @SuppressWarnings("ReferenceEquality") // which one it is
    private void add(ByteBuf frame) {
        if (size == frames.length) {
            frames = Arrays.copyOf(frames, 2 * size);
        }
        if (frames[size] != frame) {
            frames[size] = frame;
        }
        size++;
    }

    /** Appends a frame of the next octets of {@code in}, in a buffer of this message. */
    private void addOwn(ByteBuf in, int length) {
        ByteBuf frame = own[size];
        if (frame == null || frame.capacity() < Math.max(length, 1)) { // it has none if somebody released it
            frame = ownOf(length);
        }
        in.readBytes(frame.array(), frame.arrayOffset(), length);
        // As new: whoever had it before may have set marks.
        frame.setIndex(0, 0).markReaderIndex().markWriterIndex().writerIndex(length);
        add(frame);
    }

    private ByteBuf ownOf(int length) {
        ByteBuf frame = own[size];
        if (frame == null || frame.refCnt() == 0) {
            // On the heap, where nothing is lost if nobody releases it; and not of an allocator, which would count for
            // ever what it never gets back.
            frame = new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, roundUp(length), MAX_OWN_LENGTH);
            own[size] = frame;
        } else {
            frame.capacity(roundUp(length));
        }
        return frame;
    }

    private static int roundUp(int length) {
        return Math.max(32, (length + 31) & ~31);
    }

    /** The number of frames. 0 is possible, as the result of {@link #pop()}, but cannot be written to a peer. */
    public int size() {
        return size;
    }

    /**
     * The frame at {@code index}, counted from 0. It stays the message's own.
     *
     * @throws IndexOutOfBoundsException if there is no such frame
     */
    public ByteBuf frame(int index) {
        return existing(frames[Objects.checkIndex(index, size)]);
    }

    private static ByteBuf existing(@Nullable ByteBuf frame) {
        return Objects.requireNonNull(frame); // for NullAway: there is one below size
    }

    /** The readable octets of all frames together. */
    public long readableBytes() {
        long sum = 0;
        for (int i = 0; i < size(); i++) {
            sum += frame(i).readableBytes();
        }
        return sum;
    }

    /** Iterates over the frames, which stay the message's own. */
    @Override
    public Iterator<ByteBuf> iterator() {
        return new Iterator<>() {
            private int next;

            @Override
            public boolean hasNext() {
                return next < size();
            }

            @Override
            public ByteBuf next() {
                if (!hasNext()) {
                    throw new NoSuchElementException("frame: " + next + " (expected: < " + size() + ")");
                }
                return frame(next++);
            }
        };
    }

    /**
     * Returns a new message with {@code frame} in front of the frames of this one.
     *
     * <p>The new message takes {@code frame} over and retains the others: this message is still yours to release.
     *
     * @throws IllegalReferenceCountException if a frame was released; {@code frame} then is, too
     */
    public ZMTPMessage push(ByteBuf frame) {
        Objects.requireNonNull(frame, "frame");
        ZMTPMessage more = empty();
        more.ensureCapacity(size + 1);
        more.add(frame);
        more.addRetained(this, 0);
        return more;
    }

    /**
     * Returns a new message without the first frame of this one.
     *
     * <p>The new message retains its frames: this message is still yours to release.
     *
     * @throws IllegalStateException if there is no frame
     */
    public ZMTPMessage pop() {
        if (size() == 0) {
            throw new IllegalStateException("frames: 0 (expected: >= 1)");
        }
        ZMTPMessage rest = empty();
        rest.ensureCapacity(size - 1);
        rest.addRetained(this, 1);
        return rest;
    }

    private void addRetained(ZMTPMessage other, int from) {
        try {
            for (int i = from; i < other.size; i++) {
                add(other.frame(i).retain());
            }
        } catch (Throwable e) { // a frame was released already
            release(); // with those that it has got
            throw e;
        }
    }

    /**
     * Reads one message from {@code in}, in the framing of {@code version}: what {@link #write} wrote.
     *
     * <p>The frames are retained slices of {@code in}, which stays the caller's and whose reader index moves behind the
     * message. There is no limit but the size of {@code in}.
     *
     * @return the message, the caller's to release; or null, with {@code in} unmoved, if {@code in} ends before it does
     * @throws ZMTPException if the octets are not a message; {@code in} is unmoved
     */
    public static @Nullable ZMTPMessage read(ByteBuf in, ZMTPVersion version) {
        int end = in.writerIndex();
        int index = in.readerIndex();
        List<ByteBuf> slices = new ArrayList<>(1);
        int flags;
        do {
            if (index == end) {
                return null;
            }
            int header = version.framing().headerLengthOf(in.getUnsignedByte(index));
            if (end - index < header) {
                return null;
            }
            flags = version.framing().flagsAt(in, index);
            if ((flags & ZMTPFraming.COMMAND) != 0) {
                throw ZMTPException.malformed("frame flags", "0x" + flags, "a message frame, no command");
            }
            long length = version.framing().bodyLengthAt(in, index);
            index += header;
            if (length > end - index) {
                return null;
            }
            slices.add(length == 0 ? Unpooled.EMPTY_BUFFER : in.slice(index, (int) length));
            index += (int) length;
        } while ((flags & ZMTPFraming.MORE) != 0);
        in.readerIndex(index);
        slices.forEach(ByteBuf::retain);
        return from(slices);
    }

    /**
     * Returns the octets of this message in the framing of {@code version}, the caller's to release. The message stays as
     * it is and is not released.
     */
    public ByteBuf write(ZMTPVersion version) {
        return write(ByteBufAllocator.DEFAULT, version);
    }

    /** As {@link #write(ZMTPVersion)}, in a buffer of {@code alloc}. */
    public ByteBuf write(ByteBufAllocator alloc, ZMTPVersion version) {
        long length = 0;
        for (int i = 0; i < size(); i++) {
            int body = frame(i).readableBytes();
            length += version.framing().headerLengthFor(body) + body;
        }
        ByteBuf out = alloc.buffer(Math.toIntExact(length));
        try {
            write(out, version);
        } catch (Throwable e) { // a frame was released
            out.release();
            throw e;
        }
        return out;
    }

    /** Appends this message to {@code out}, in the framing of {@code version}. The message stays as it is. */
    public void write(ByteBuf out, ZMTPVersion version) {
        for (int i = 0, last = size() - 1; i <= last; i++) {
            ByteBuf body = frame(i);
            version.framing().writeHeader(out, i < last ? ZMTPFraming.MORE : 0, body.readableBytes());
            out.writeBytes(body, body.readerIndex(), body.readableBytes());
        }
    }

    @Override
    public int refCnt() {
        return (int) REFERENCES.getVolatile(this);
    }

    @Override
    public ZMTPMessage retain() {
        return retain(1);
    }

    @Override
    public ZMTPMessage retain(int increment) {
        if (increment <= 0) {
            throw new IllegalArgumentException("increment: " + increment + " (expected: > 0)");
        }
        int before = (int) REFERENCES.getAndAdd(this, increment);
        if (before <= 0 || before + increment < before) {
            REFERENCES.getAndAdd(this, -increment);
            throw new IllegalReferenceCountException(before, increment);
        }
        return this;
    }

    @Override
    public boolean release() {
        // Whoever holds the only reference shares it with nobody, and needs no atomic operation to give it up.
        if ((int) REFERENCES.getAcquire(this) == 1) {
            references = 0;
            deallocate();
            return true;
        }
        return release(1);
    }

    @Override
    public boolean release(int decrement) {
        if (decrement <= 0) {
            throw new IllegalArgumentException("decrement: " + decrement + " (expected: > 0)");
        }
        int before = (int) REFERENCES.getAndAdd(this, -decrement);
        if (before < decrement) {
            REFERENCES.getAndAdd(this, decrement);
            throw new IllegalReferenceCountException(before, -decrement);
        }
        if (before > decrement) {
            return false;
        }
        deallocate();
        return true;
    }

    @Override
    public ZMTPMessage touch() {
        return touch(null);
    }

    @Override
    public ZMTPMessage touch(@Nullable Object hint) {
        ResourceLeakTracker<ZMTPMessage> tracker = leak;
        if (tracker != null) {
            tracker.record(hint);
        }
        for (int i = 0; i < size(); i++) {
            frame(i).touch(hint);
        }
        return this;
    }

    private void deallocate() {
        ResourceLeakTracker<ZMTPMessage> tracker = leak;
        if (tracker != null) {
            leak = null;
            tracker.close(this);
        }
        for (int i = 0; i < size; i++) {
            ByteBuf frame = existing(frames[i]);
            if (!isKept(i, frame)) {
                frames[i] = null;
                ReferenceCountUtil.safeRelease(frame);
            }
        }
        size = 0;
        if (frames.length > MAX_OWN_FRAMES) {
            frames = new ByteBuf[1];
        }
        if (handle != null) {
            handle.unguardedRecycle(this);
        } else {
            IDLE.setRelease(this, true);
        }
    }

    /** Whether {@code frame} stays, for the next message. */
    @SuppressWarnings("ReferenceEquality") // whose it is, not what is in it
    private boolean isKept(int index, ByteBuf frame) {
        if (index >= MAX_OWN_FRAMES || frame != own[index]) {
            return false;
        }
        if (frame.refCnt() == 1) {
            return true;
        }
        own[index] = null; // somebody retained it: it is theirs now
        return false;
    }

    /** Whether {@code other} is a message with as many frames of the same readable octets. */
    @Override
    public boolean equals(@Nullable Object other) {
        if (this == other) {
            return true;
        }
        if (!(other instanceof ZMTPMessage that) || size() != that.size()) {
            return false;
        }
        for (int i = 0; i < size(); i++) {
            if (!ByteBufUtil.equals(frame(i), that.frame(i))) {
                return false;
            }
        }
        return true;
    }

    @Override
    public int hashCode() {
        int hash = 1;
        for (int i = 0; i < size(); i++) {
            hash = 31 * hash + ByteBufUtil.hashCode(frame(i));
        }
        return hash;
    }

    /**
     * Shows the first frames and octets of the message, as text where they are printable ASCII, else in hex. Bounded, safe
     * on any octets and on a released message.
     */
    @Override
    public String toString() {
        if (refCnt() == 0) {
            return "ZMTPMessage{released}";
        }
        StringBuilder out = new StringBuilder("ZMTPMessage{[");
        for (int i = 0; i < size() && i < SHOWN_FRAMES; i++) {
            if (i > 0) {
                out.append(',');
            }
            show(frame(i), out);
        }
        if (size() > SHOWN_FRAMES) {
            out.append(",.. ").append(size()).append(" frames");
        }
        return out.append("]}").toString();
    }

    /** The first octets of {@code frame}, as {@link #toString()} shows them. */
    static String show(ByteBuf frame) {
        StringBuilder out = new StringBuilder();
        show(frame, out);
        return out.toString();
    }

    private static void show(ByteBuf frame, StringBuilder out) {
        int length = frame.readableBytes();
        int shown = Math.min(length, SHOWN_OCTETS);
        try {
            if (isPrintable(frame, shown)) {
                out.append('"')
                        .append(frame.toString(frame.readerIndex(), shown, StandardCharsets.US_ASCII))
                        .append('"');
            } else {
                out.append("0x").append(ByteBufUtil.hexDump(frame, frame.readerIndex(), shown));
            }
        } catch (IllegalReferenceCountException e) {
            out.append("released");
        }
        if (shown < length) {
            out.append(".. ").append(length).append(" octets");
        }
    }

    private static boolean isPrintable(ByteBuf frame, int length) {
        return frame.forEachByte(frame.readerIndex(), length, octet -> octet >= 0x20 && octet < 0x7f) < 0;
    }

    /**
     * Collects the frames of a message, and then of the next one.
     *
     * <p>What it has collected is its own until {@link #build}, or {@link #clear}, which releases it. Not thread safe.
     */
    public static final class Builder {
        private @Nullable ZMTPMessage message;
        private boolean copied;

        /** The message that is used again and again, as long as each is released before the next one is begun. */
        private final ZMTPMessage last = new ZMTPMessage(null);

        /** A builder without frames. */
        public Builder() {
            last.idle = true;
        }

        /** The number of frames that were collected. */
        public int size() {
            return message == null ? 0 : message.size;
        }

        /** Adds {@code frame}, which the message takes over. */
        public Builder add(ByteBuf frame) {
            Objects.requireNonNull(frame, "frame");
            open().add(frame);
            return this;
        }

        /**
         * Adds a frame of the next {@code length} octets of {@code in}, which stays the caller's and whose reader index
         * moves behind them. A small frame takes no memory of {@code in} or its allocator, but of the message, which is
         * recycled with it.
         *
         * @throws IndexOutOfBoundsException if there are not so many octets
         */
        public Builder copy(ByteBuf in, int length) {
            if (length < 0 || length > in.readableBytes()) {
                throw new IndexOutOfBoundsException(
                        "length: " + length + " (expected: 0 to " + in.readableBytes() + ")");
            }
            ZMTPMessage open = open();
            if (length <= MAX_OWN_LENGTH && open.size < MAX_OWN_FRAMES) {
                open.addOwn(in, length);
                copied = true;
            } else {
                open.add(in.readBytes(length));
            }
            return this;
        }

        private ZMTPMessage open() {
            ZMTPMessage open = message;
            if (open == null) {
                if ((boolean) IDLE.getAcquire(last)) {
                    open = last;
                    open.idle = false;
                    open.references = 1;
                } else {
                    open = empty();
                }
                message = open;
            }
            return open;
        }

        /** Returns a message of these frames, the caller's to release. The builder is empty again. */
        public ZMTPMessage build() {
            ZMTPMessage built = open();
            if (copied) {
                built.leak = LEAKS.track(built);
                copied = false;
            }
            message = null;
            return built;
        }

        /** Releases what was collected. The builder is empty again. */
        public void clear() {
            copied = false;
            if (message != null) {
                message.release();
                message = null;
            }
        }
    }
}
