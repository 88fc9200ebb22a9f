package dev.zmtp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.util.AbstractReferenceCounted;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
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
 * <p>The list of frames is immutable; the buffers themselves are as mutable as any {@link ByteBuf}. The codec does not move
 * their indices, so one message can be retained and written to many channels. Not more thread safe than the buffers are.
 */
public final class ZMTPMessage extends AbstractReferenceCounted implements Iterable<ByteBuf> {

    private static final int SHOWN_FRAMES = 8;
    private static final int SHOWN_OCTETS = 32;
    private static final ByteBuf[] NO_FRAMES = {};

    /** The only frame, so that the commonest message needs no array; null if there is another number of them. */
    private final @Nullable ByteBuf single;

    private final ByteBuf[] frames;

    private ZMTPMessage(@Nullable ByteBuf single, ByteBuf[] frames) {
        this.single = single;
        this.frames = frames;
    }

    /** Returns a message of one frame, which it takes over. */
    public static ZMTPMessage from(ByteBuf frame) {
        return new ZMTPMessage(Objects.requireNonNull(frame, "frame"), NO_FRAMES);
    }

    /** Returns a message of these frames, which it takes over. The array itself is copied. */
    public static ZMTPMessage from(ByteBuf... frames) {
        return ofOwned(frames.clone());
    }

    /** Returns a message of these frames, which it takes over. */
    public static ZMTPMessage from(Collection<? extends ByteBuf> frames) {
        return ofOwned(frames.toArray(NO_FRAMES));
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
        return ofOwned(encoded.toArray(NO_FRAMES));
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

    private static ZMTPMessage ofOwned(ByteBuf[] frames) {
        for (ByteBuf frame : frames) {
            Objects.requireNonNull(frame, "frame");
        }
        return frames.length == 1 ? new ZMTPMessage(frames[0], NO_FRAMES) : new ZMTPMessage(null, frames);
    }

    /** The number of frames. 0 is possible, as the result of {@link #pop()}, but cannot be written to a peer. */
    public int size() {
        return single != null ? 1 : frames.length;
    }

    /**
     * The frame at {@code index}, counted from 0. It stays the message's own.
     *
     * @throws IndexOutOfBoundsException if there is no such frame
     */
    public ByteBuf frame(int index) {
        ByteBuf only = single;
        if (only == null) {
            return frames[Objects.checkIndex(index, frames.length)];
        }
        Objects.checkIndex(index, 1);
        return only;
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
     */
    public ZMTPMessage push(ByteBuf frame) {
        Objects.requireNonNull(frame, "frame");
        ByteBuf[] more = new ByteBuf[size() + 1];
        more[0] = frame;
        for (int i = 1; i < more.length; i++) {
            more[i] = frame(i - 1).retain();
        }
        return ofOwned(more);
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
        ByteBuf[] rest = new ByteBuf[size() - 1];
        for (int i = 0; i < rest.length; i++) {
            rest[i] = frame(i + 1).retain();
        }
        return ofOwned(rest);
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
            int header = version.headerLengthOf(in.getUnsignedByte(index));
            if (end - index < header) {
                return null;
            }
            flags = version.flagsAt(in, index);
            if ((flags & ZMTPVersion.COMMAND) != 0) {
                throw ZMTPException.malformed("frame flags", "0x" + flags, "a message frame, no command");
            }
            long length = version.bodyLengthAt(in, index);
            index += header;
            if (length > end - index) {
                return null;
            }
            slices.add(length == 0 ? Unpooled.EMPTY_BUFFER : in.slice(index, (int) length));
            index += (int) length;
        } while ((flags & ZMTPVersion.MORE) != 0);
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
            length += version.headerLengthFor(body) + body;
        }
        ByteBuf out = alloc.buffer(Math.toIntExact(length));
        write(out, version);
        return out;
    }

    /** Appends this message to {@code out}, in the framing of {@code version}. The message stays as it is. */
    public void write(ByteBuf out, ZMTPVersion version) {
        for (int i = 0, last = size() - 1; i <= last; i++) {
            ByteBuf body = frame(i);
            version.writeHeader(out, i < last ? ZMTPVersion.MORE : 0, body.readableBytes());
            out.writeBytes(body, body.readerIndex(), body.readableBytes());
        }
    }

    @Override
    public ZMTPMessage retain() {
        super.retain();
        return this;
    }

    @Override
    public ZMTPMessage retain(int increment) {
        super.retain(increment);
        return this;
    }

    @Override
    public ZMTPMessage touch() {
        super.touch();
        return this;
    }

    @Override
    public ZMTPMessage touch(Object hint) {
        for (int i = 0; i < size(); i++) {
            frame(i).touch(hint);
        }
        return this;
    }

    @Override
    protected void deallocate() {
        for (int i = 0; i < size(); i++) {
            ReferenceCountUtil.safeRelease(frame(i));
        }
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
}
