package dev.zmtp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * List of the frames of a {@link ZMTPMessage}, which it owns. It is reused when the message is recycled.
 *
 * <p>Small frames are copied into buffers that remain in the list. Each of the first indices has its own buffer, which
 * is reused for the next small frame at this index unless it was retained.
 *
 * <p>This is a base class, and not a field of the message, because every frame that is read or written is looked up
 * here.
 */
abstract sealed class FrameList implements Iterable<ByteBuf> permits ZMTPMessage {

    /** Maximum length of a small frame, in bytes. */
    static final int MAX_SMALL_LENGTH = 1024;

    /** Number of leading indices at which frames can be small. */
    private static final int MAX_SMALL_FRAMES = 8;

    private static final int GRANULARITY = 32;

    /** Memory of the objects of a frame, which are its buffer and the buffer's array or block, in bytes. */
    private static final int FRAME_OBJECTS = 132;

    private static final int MAX_SHOWN_FRAMES = 8;

    /**
     * Frames of the message. From index {@link #size} on, elements are null or buffers of {@link #small}, which most
     * likely become the next frames at their indices. Below it, elements are null for {@link #packed} frames.
     */
    @Nullable
    ByteBuf[] frames = new ByteBuf[1];

    int size;

    /** Buffers for small frames, each for the frame at the same index. */
    private final @Nullable ByteBuf[] small = new ByteBuf[MAX_SMALL_FRAMES];

    /** Encoded form of all frames, if the message is encoded once. */
    @Nullable
    SharedForm shared;

    /** Packed frames of an incomplete message. */
    private @Nullable PackedFrames packed;

    /** Index of the first frame not examined for packing. Frames before it are packed, or are not worth packing. */
    private int compacted;

    /** Memory of the frames that are not packed, in bytes. */
    private long unpackedMemory;

    /** Returns the exception for a missing frame. A released message has no frames. */
    private IndexOutOfBoundsException noFrame(int index) {
        ensureAccessible();
        return new IndexOutOfBoundsException("frame: " + index + " (expected: >= 0 and < " + size + ")");
    }

    private ByteBuf get(int index) {
        return Objects.requireNonNull(frames[index]); // for NullAway: there is one below size
    }

    /**
     * Checks that the message was not released.
     *
     * @throws IllegalReferenceCountException if the message was released
     */
    abstract void ensureAccessible();

    /** Returns the number of frames. The result of {@code pop} can have 0 frames, but cannot be written to a peer. */
    public int size() {
        return size;
    }

    /**
     * Returns the frame at {@code index}, counted from 0. The frame remains owned by the message.
     *
     * @throws IndexOutOfBoundsException if there is no such frame
     * @throws IllegalReferenceCountException if the message was released
     */
    public ByteBuf frame(int index) {
        if (index < 0 || index >= size) {
            throw noFrame(index);
        }
        return get(index);
    }

    /**
     * Returns the frame at {@code index}, decoded as UTF-8. Invalid bytes become replacement characters.
     *
     * @throws IndexOutOfBoundsException if there is no such frame
     * @throws IllegalReferenceCountException if the message or the frame was released
     */
    public String frameUTF8(int index) {
        return frame(index).toString(StandardCharsets.UTF_8);
    }

    /**
     * Inserts frames before those of this message. This method takes over both the frames and this message, so use its
     * result instead of this message.
     *
     * <p>A message that is not retained is changed and returned, so nothing is allocated, unlike with
     * {@link ZMTPMessage#push}. Otherwise the result is a new message, and this message loses a reference. The encoded
     * bytes kept by {@link ZMTPMessage#encodeOnce} are discarded.
     *
     * @throws IllegalReferenceCountException if the message was released; {@code first} is then released too
     */
    public ZMTPMessage prepend(ByteBuf... first) {
        ZMTPMessage self = self();
        int references = self.refCnt();
        if (references == 0 || hasNull(first)) {
            Arrays.asList(first).forEach(ReferenceCountUtil::safeRelease); // they were handed over all the same
            self.release(); // which throws if it was released
            throw new NullPointerException("frame");
        }
        if (references > 1) {
            ByteBuf[] all = Arrays.copyOf(first, first.length + size);
            retainInto(all, first.length, 0);
            ZMTPMessage whole = ZMTPMessage.from(all);
            self.release(); // last, because there can be no memory for the new message
            return whole;
        }
        ensureCapacity(size + first.length);
        giveUpSmall(first.length);
        System.arraycopy(frames, 0, frames, first.length, size);
        System.arraycopy(first, 0, frames, 0, first.length);
        size += first.length;
        moved(first.length % MAX_SMALL_FRAMES);
        return self;
    }

    /**
     * Removes the first {@code count} frames and releases them. This method takes over this message, so use its result
     * instead, as with {@link #prepend}. Unlike {@link ZMTPMessage#pop}, it allocates nothing.
     *
     * @throws IllegalArgumentException if there are fewer frames; the message remains owned by the caller
     * @throws IllegalReferenceCountException if the message was released
     */
    public ZMTPMessage removeFirst(int count) {
        ensureAccessible();
        if (count < 0 || count > size) {
            throw new IllegalArgumentException("count: " + count + " (expected: 0 to " + size + ")");
        }
        ZMTPMessage self = self();
        if (self.refCnt() > 1) {
            ByteBuf[] rest = new ByteBuf[size - count];
            retainInto(rest, 0, count);
            ZMTPMessage others = ZMTPMessage.from(rest);
            self.release();
            return others;
        }
        for (int i = 0; i < count; i++) {
            releaseFrame(i);
        }
        System.arraycopy(frames, count, frames, 0, size - count);
        Arrays.fill(frames, size - count, size, null);
        size -= count;
        moved(-(count % MAX_SMALL_FRAMES));
        return self;
    }

    private static boolean hasNull(ByteBuf[] frames) {
        for (ByteBuf frame : frames) {
            if (frame == null) {
                return true;
            }
        }
        return false;
    }

    private ZMTPMessage self() {
        return (ZMTPMessage) this; // there is no other
    }

    private void retainInto(ByteBuf[] others, int at, int from) {
        for (int i = from; i < size; i++) {
            others[at + i - from] = get(i).retain();
        }
    }

    /** Gives up the buffers of frames about to move up beyond the small ones, because these can be retained there. */
    @SuppressWarnings("ReferenceEquality") // which buffer it is, not what is in it
    private void giveUpSmall(int by) {
        for (int i = Math.max(0, MAX_SMALL_FRAMES - by); i < MAX_SMALL_FRAMES && i < size; i++) {
            small[i] = frames[i] == small[i] ? null : small[i];
        }
    }

    /** Moves the buffers for small frames after every frame has moved up by {@code by} indices. */
    private void moved(int by) {
        for (int i = 0; i < by; i++) {
            ByteBuf last = small[MAX_SMALL_FRAMES - 1];
            System.arraycopy(small, 0, small, 1, MAX_SMALL_FRAMES - 1);
            small[0] = last;
        }
        for (int i = by; i < 0; i++) {
            ByteBuf first = small[0];
            System.arraycopy(small, 1, small, 0, MAX_SMALL_FRAMES - 1);
            small[MAX_SMALL_FRAMES - 1] = first;
        }
        forgetShared();
    }

    /** Returns whether {@link ZMTPMessage#encodeOnce} was called. */
    public boolean isEncodedOnce() {
        return shared != null;
    }

    /** Returns the total number of readable bytes of all frames. */
    public long readableBytes() {
        long sum = 0;
        for (int i = 0; i < size; i++) {
            sum += get(i).readableBytes();
        }
        return sum;
    }

    /**
     * Returns an iterator over the frames, which remain owned by the message.
     *
     * @throws IllegalReferenceCountException if the message was released
     */
    @Override
    public Iterator<ByteBuf> iterator() {
        ensureAccessible();
        return new Iterator<>() {
            private int next;

            @Override
            public boolean hasNext() {
                return next < size;
            }

            @Override
            public ByteBuf next() {
                if (next >= size) {
                    throw new NoSuchElementException("frame: " + next + " (expected: < " + size + ")");
                }
                return get(next++);
            }
        };
    }

    final void ensureCapacity(int capacity) {
        if (frames.length < capacity) {
            frames = Arrays.copyOf(frames, Math.max(capacity, Math.min(2 * frames.length, MAX_SMALL_FRAMES)));
        }
    }

    /** Appends {@code frame} and takes it over. */
    @SuppressWarnings("ReferenceEquality") // a small frame is there already: avoid a GC write barrier
    final void add(ByteBuf frame) {
        if (size == frames.length) {
            frames = Arrays.copyOf(frames, 2 * size);
        }
        if (frames[size] != frame) {
            frames[size] = frame;
        }
        size++;
    }

    /** Appends and retains the frames of {@code other}, starting at the index {@code from}. */
    final void addRetained(FrameList other, int from) {
        for (int i = from; i < other.size; i++) {
            add(other.get(i).retain());
        }
    }

    /**
     * Appends a frame of the next {@code length} bytes of {@code in}, which remains owned by the caller. Returns
     * whether the frame is small, so that no leak detector tracks its buffer.
     */
    final boolean copy(ByteBuf in, int length) {
        if (length > MAX_SMALL_LENGTH || size >= MAX_SMALL_FRAMES) {
            add(in.readBytes(length));
            return false;
        }
        ByteBuf frame = small[size];
        if (frame == null
                || frame.capacity() < Math.max(length, 1)) { // a buffer that the user released has no capacity
            frame = grow(frame, length);
        }
        if (length > 0) { // delimiters are empty
            in.readBytes(frame.array(), frame.arrayOffset(), length);
        }
        // As new: the last owner may have moved the indices and set the marks.
        frame.setIndex(0, 0).markReaderIndex().markWriterIndex().writerIndex(length);
        add(frame);
        return true;
    }

    private ByteBuf grow(@Nullable ByteBuf frame, int length) {
        int capacity = Math.max(1, (length + GRANULARITY - 1) / GRANULARITY) * GRANULARITY;
        if (frame != null && frame.refCnt() > 0) {
            return frame.capacity(capacity);
        }
        // On the heap, where nothing is lost if it is not released; and created without an allocator, whose metrics
        // would count memory that it never gets back.
        ByteBuf created = new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, capacity, MAX_SMALL_LENGTH);
        small[size] = created;
        return created;
    }

    /** Packs small frames that are not in buffers of this list. Call {@link #unpack} before looking up a frame. */
    final void compact() {
        for (; compacted < size; compacted++) {
            ByteBuf frame = get(compacted);
            if (compacted >= MAX_SMALL_FRAMES && frame.readableBytes() <= MAX_SMALL_LENGTH) {
                pack(frame);
                frames[compacted] = null;
                frame.release();
            } else {
                unpackedMemory += FRAME_OBJECTS + memory(frame);
            }
        }
    }

    private void pack(ByteBuf frame) {
        if (packed == null) {
            packed = new PackedFrames();
        }
        packed.add(frame);
    }

    /** Returns the memory of this list and of the frames present at the last {@link #compact}, in bytes. */
    final long memory() {
        return HeapSize.ofReferences(frames.length) + unpackedMemory + (packed == null ? 0 : packed.memory());
    }

    /** Returns the memory of a frame. If it is not small, it can be a slice, of at least half of a buffer. */
    private static long memory(ByteBuf frame) {
        ByteBuf root = frame;
        for (ByteBuf next = frame.unwrap(); next != null; next = next.unwrap()) {
            root = next;
        }
        int length = frame.readableBytes();
        return length <= MAX_SMALL_LENGTH ? length : Math.min(2L * length, root.capacity());
    }

    /** Reverts {@link #compact}. */
    final void unpack() {
        if (packed != null) {
            for (int i = MAX_SMALL_FRAMES; i < size; i++) {
                if (frames[i] == null) {
                    frames[i] = packed.remove();
                }
            }
        }
        releasePacked();
    }

    private void releasePacked() {
        compacted = 0;
        unpackedMemory = 0;
        if (packed != null) {
            packed.release();
            packed = null;
        }
    }

    final void touchFrames(@Nullable Object hint) {
        for (int i = 0; i < size; i++) {
            get(i).touch(hint);
        }
    }

    /** Releases all frames except the small frames, which are kept for the next message. */
    final void releaseFrames() {
        for (int i = 0; i < size; i++) {
            releaseFrame(i);
        }
        size = 0;
        releasePacked();
        forgetShared();
        if (frames.length > MAX_SMALL_FRAMES) {
            frames = new ByteBuf[1];
        }
    }

    private void releaseFrame(int index) {
        ByteBuf frame = frames[index];
        if (frame != null && !isKept(index, frame)) {
            frames[index] = null;
            ReferenceCountUtil.safeRelease(frame);
        }
    }

    private void forgetShared() {
        if (shared != null) {
            shared.release();
            shared = null;
        }
    }

    @SuppressWarnings("ReferenceEquality") // which buffer it is, not what is in it
    private boolean isKept(int index, ByteBuf frame) {
        if (index >= MAX_SMALL_FRAMES || frame != small[index]) {
            return false;
        }
        if (frame.refCnt() == 1) {
            return true;
        }
        small[index] = null; // it was retained, and belongs to its other owner
        return false;
    }

    final boolean equalFrames(FrameList that) {
        if (size != that.size) {
            return false;
        }
        for (int i = 0; i < size; i++) {
            if (!ByteBufUtil.equals(get(i), that.get(i))) {
                return false;
            }
        }
        return true;
    }

    final int hashFrames() {
        int hash = 1;
        for (int i = 0; i < size; i++) {
            hash = 31 * hash + ByteBufUtil.hashCode(get(i));
        }
        return hash;
    }

    /** Returns the first bytes of the first frames, for {@code toString}. */
    final String showFrames() {
        StringBuilder out = new StringBuilder("[");
        for (int i = 0; i < size && i < MAX_SHOWN_FRAMES; i++) {
            out.append(i > 0 ? "," : "").append(Printable.bytes(get(i)));
        }
        if (size > MAX_SHOWN_FRAMES) {
            out.append(",.. ").append(size).append(" frames");
        }
        return out.append(']').toString();
    }
}
