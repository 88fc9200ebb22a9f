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
 * The frames of a {@link ZMTPMessage}, which owns them. The list is used again when the message is recycled.
 *
 * <p>Small frames are copied into buffers that stay in the list. There is one for each of the first places, and it is
 * used again for the next small frame at its place, unless it was retained.
 *
 * <p>This is a base class and not a field of the message because every frame that is read or written is looked up here.
 */
abstract sealed class FrameList implements Iterable<ByteBuf> permits ZMTPMessage {

    /** A frame of more bytes is not small. */
    static final int MAX_SMALL_LENGTH = 1024;

    /** A frame at a later place is not small. */
    private static final int MAX_SMALL_FRAMES = 8;

    private static final int GRANULARITY = 32;

    /** What the objects of a frame take: its buffer, and the array or the block of that. */
    private static final int FRAME_OBJECTS = 132;

    private static final int MAX_SHOWN_FRAMES = 8;

    /**
     * The frames. After {@link #size} there are nulls, or buffers of {@link #small}, which most likely become the next
     * frames at their places. Before it there are nulls for {@link #packed} frames.
     */
    @Nullable
    ByteBuf[] frames = new ByteBuf[1];

    int size;

    /** The buffers for small frames, each for the frame at the same place. */
    private final @Nullable ByteBuf[] small = new ByteBuf[MAX_SMALL_FRAMES];

    /** What is sent of all frames, if that is encoded once. */
    @Nullable
    SharedForm shared;

    /** Frames of a message that is not complete. */
    private @Nullable PackedFrames packed;

    /** The frames before this index are packed, or are not worth it. */
    private int compacted;

    /** The memory of those that are not packed. */
    private long unpackedMemory;

    /** A released message has no frames. */
    private IndexOutOfBoundsException noFrame(int index) {
        ensureAccessible();
        return new IndexOutOfBoundsException("frame: " + index + " (expected: >= 0 and < " + size + ")");
    }

    private ByteBuf get(int index) {
        return Objects.requireNonNull(frames[index]); // for NullAway: there is one below size
    }

    /** @throws IllegalReferenceCountException if the message was released */
    abstract void ensureAccessible();

    /** The number of frames. 0 is possible, as the result of {@code pop}, but cannot be written to a peer. */
    public int size() {
        return size;
    }

    /**
     * The frame at {@code index}, counted from 0. It stays the message's own.
     *
     * @throws IndexOutOfBoundsException if there is no such frame
     * @throws IllegalReferenceCountException if the message was released
     */
    public ByteBuf frame(int index) {
        if (index < 0 || index >= size) {
            throw noFrame(index);
        }
        return Objects.requireNonNull(frames[index]); // for NullAway: there is one below size
    }

    /**
     * The frame at {@code index} as UTF-8. Bytes that are not UTF-8 become replacement characters.
     *
     * @throws IndexOutOfBoundsException if there is no such frame
     * @throws IllegalReferenceCountException if the message or the frame was released
     */
    public String frameUTF8(int index) {
        return frame(index).toString(StandardCharsets.UTF_8);
    }

    /**
     * Puts frames before those of this message. It takes over both the frames and this message: use what it returns in
     * place of this message.
     *
     * <p>A message that is not retained is changed and returned, so nothing is allocated, as with
     * {@link ZMTPMessage#push}. Otherwise the result is a new message, and this one loses a reference. What
     * {@link ZMTPMessage#encodeOnce} has kept is forgotten.
     *
     * @throws IllegalReferenceCountException if the message was released; {@code first} then is, too
     */
    public ZMTPMessage prepended(ByteBuf... first) {
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
            self.release();
            return ZMTPMessage.from(all);
        }
        ensureCapacity(size + first.length);
        System.arraycopy(frames, 0, frames, first.length, size);
        System.arraycopy(first, 0, frames, 0, first.length);
        size += first.length;
        moved(first.length % MAX_SMALL_FRAMES);
        return self;
    }

    /**
     * Takes the first {@code count} frames away and releases them. It takes this message over: use what it returns in
     * its place, as with {@link #prepended}. Unlike {@link ZMTPMessage#pop}, it allocates nothing.
     *
     * @throws IllegalArgumentException if there are fewer frames; the message is still yours
     * @throws IllegalReferenceCountException if the message was released
     */
    public ZMTPMessage withoutFirst(int count) {
        ensureAccessible();
        if (count < 0 || count > size) {
            throw new IllegalArgumentException("count: " + count + " (expected: 0 to " + size + ")");
        }
        ZMTPMessage self = self();
        if (self.refCnt() > 1) {
            ByteBuf[] rest = new ByteBuf[size - count];
            retainInto(rest, 0, count);
            self.release();
            return ZMTPMessage.from(rest);
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

    /** Called when each frame is {@code by} places further on: the buffers for small frames move with them. */
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

    /** Whether {@link ZMTPMessage#encodeOnce} was called. */
    public boolean isEncodedOnce() {
        return shared != null;
    }

    /** The readable bytes of all frames together. */
    public long readableBytes() {
        long sum = 0;
        for (int i = 0; i < size; i++) {
            sum += get(i).readableBytes();
        }
        return sum;
    }

    /**
     * Iterates over the frames, which stay the message's own.
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

    /** Appends and retains the frames of {@code other} from the index {@code from} on. */
    final void addRetained(FrameList other, int from) {
        for (int i = from; i < other.size; i++) {
            add(other.get(i).retain());
        }
    }

    /**
     * Appends a frame of the next {@code length} bytes of {@code in}, which stays the caller's.
     *
     * @return whether the frame is small, so that no leak detector knows its buffer
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

    /**
     * Packs small frames which are not in buffers of this list. To be undone by {@link #unpack} before a frame is
     * looked up.
     */
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

    /** The bytes of memory of the frames that were there at the last {@link #compact}, and of the list. */
    final long memory() {
        return HeapSize.ofReferences(frames.length) + unpackedMemory + (packed == null ? 0 : packed.memory());
    }

    /** What is not small may be a slice of a buffer with others, of which it is at least half. */
    private static long memory(ByteBuf frame) {
        ByteBuf root = frame;
        for (ByteBuf next = frame.unwrap(); next != null; next = next.unwrap()) {
            root = next;
        }
        int length = frame.readableBytes();
        return length <= MAX_SMALL_LENGTH ? length : Math.min(2L * length, root.capacity());
    }

    /** Undoes {@link #compact}. */
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

    /** Releases all frames but the small ones, which are kept for the next message. */
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

    /** The first bytes of the first frames, for {@code toString}. */
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
