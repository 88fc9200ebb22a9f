package dev.zmtp.internal.wire;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPVersion;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a stream of bytes, however it arrives, into frames of one version.
 *
 * <p>For each frame: call {@link #readHeader} until it returns true and check {@link #length()}. Then take the body in
 * one of three ways: {@link #takeBody} if it {@linkplain #isBodyIn is all there}, {@link #readBody} to have it put
 * together, or {@link #beginParts} and {@link #takePart} to take it as it arrives. This class alone knows how much of a
 * frame is still to come.
 *
 * <p>Between reads it keeps what has arrived of a header or a body and nothing else; of the caller's buffers only large
 * ones that hold little else. {@link #close()} releases what is kept. Not thread safe: one instance per connection.
 */
public final class FrameReader {

    private final ZMTPFraming framing;

    /** The bytes of a header that is split over several reads. On the heap and not pooled: nothing to release. */
    private @Nullable ByteBuf splitHeader;

    /** What has arrived of a body that is split over several reads. */
    private final SplitBody splitBody;

    private boolean inBody;
    private int rawFlags;
    private boolean longHeader;
    private int flags;
    private long length;

    /** What is left of a body that is taken in parts; -1 if the body is not taken so. */
    private long remaining = -1;

    /**
     * A reader of the frames of {@code version}.
     *
     * @param reservation is told how many more bytes a body will take that is put together from several reads, before
     *     memory is taken for it; what it throws is thrown by {@link #readBody}
     */
    public FrameReader(ZMTPVersion version, LongConsumer reservation) {
        this.framing = version.framing();
        this.splitBody = new SplitBody(reservation);
    }

    /** The bytes of memory that are kept of an unfinished frame. */
    public long kept() {
        return splitBody.kept();
    }

    /**
     * Takes what {@code in} holds of the next header; returns whether the header is complete.
     *
     * @throws dev.zmtp.ZMTPException if the header is illegal
     */
    public boolean readHeader(ByteBuf in) {
        if (inBody) {
            return true;
        }
        if (splitHeader != null && splitHeader.isReadable()) {
            return readSplitHeader(splitHeader, in);
        }
        if (!in.isReadable()) {
            return false;
        }
        int header = framing.headerLengthOf(in.getUnsignedByte(in.readerIndex()));
        if (in.readableBytes() < header) {
            if (splitHeader == null) {
                splitHeader = Unpooled.buffer(ZMTPFraming.MAX_HEADER, ZMTPFraming.MAX_HEADER);
            }
            splitHeader.clear().writeBytes(in);
            return false;
        }
        parse(in, in.readerIndex(), header);
        in.skipBytes(header);
        return true;
    }

    /**
     * Takes the header of a message frame that {@code in} holds whole, if the header is a short one, as most are:
     * nothing need be remembered of such a frame. The caller must take the body, the next bytes of {@code in}.
     *
     * @return the flags in the bits 8 and above and the length of the body in the bits 0 to 7; or -1, with nothing
     *     taken, if the next frame is another, for {@link #readHeader}
     */
    public int readShortFrame(ByteBuf in) {
        int readable = in.readableBytes();
        if (readable < 2 || inBody || isHeaderSplit()) {
            return -1;
        }
        int index = in.readerIndex();
        int header = framing.shortMessageHeader(in.getUnsignedShort(index));
        if (header < 0 || 2 + (header & 0xff) > readable) {
            return -1;
        }
        in.readerIndex(index + 2);
        return header;
    }

    /** Returns whether a header was read whose body was not all taken yet. */
    public boolean isInBody() {
        return inBody;
    }

    /** Returns whether a part of a frame was taken and the rest is still to come. */
    public boolean isMidFrame() {
        return inBody || isHeaderSplit();
    }

    /**
     * Describes the frame of which a part was taken and the rest is still to come, for an exception message; null
     * between two frames.
     */
    public @Nullable String unfinished() {
        if (inBody) {
            long arrived = remaining < 0 ? splitBody.arrived() : length - remaining;
            return "frame: " + arrived + " bytes (expected: " + length + ")";
        }
        ByteBuf header = splitHeader;
        if (header == null || !header.isReadable()) {
            return null;
        }
        return "frame header: " + header.readableBytes() + " bytes (expected: "
                + framing.headerLengthOf(header.getUnsignedByte(0)) + ")";
    }

    private boolean isHeaderSplit() {
        return splitHeader != null && splitHeader.isReadable();
    }

    private boolean readSplitHeader(ByteBuf split, ByteBuf in) {
        int header = framing.headerLengthOf(split.getUnsignedByte(0));
        split.writeBytes(in, Math.min(header - split.readableBytes(), in.readableBytes()));
        if (split.readableBytes() < header) {
            return false;
        }
        parse(split, 0, header);
        split.clear();
        return true;
    }

    private void parse(ByteBuf in, int index, int header) {
        flags = framing.flagsAt(in, index);
        rawFlags = framing.rawFlagsAt(in, index);
        longHeader = header > 2;
        length = framing.bodyLengthAt(in, index);
        inBody = true;
    }

    /** The MORE and COMMAND flags of the frame whose header was read. */
    public int flags() {
        return flags;
    }

    /** The flags byte as it arrived, with the bits that a reader of the version ignores. */
    public int rawFlags() {
        return rawFlags;
    }

    /** Returns whether the length took eight bytes. */
    public boolean hasLongHeader() {
        return longHeader;
    }

    /** Returns whether another frame of the same message follows. */
    public boolean hasMore() {
        return (flags & ZMTPFraming.MORE) != 0;
    }

    /** Returns whether the frame is a command. */
    public boolean isCommand() {
        return (flags & ZMTPFraming.COMMAND) != 0;
    }

    /** The length of the body in bytes: 0 to 2^63 - 1. To be checked before the body is taken. */
    public long length() {
        return length;
    }

    /** Returns whether {@code in} holds the whole body, none of which was taken yet. */
    public boolean isBodyIn(ByteBuf in) {
        return length <= in.readableBytes() && !splitBody.isOpen() && remaining < 0;
    }

    /**
     * Hands the body to the caller: the next bytes of {@code in}, which {@linkplain #isBodyIn holds them all}; returns
     * its length.
     */
    public int takeBody() {
        inBody = false;
        return (int) length;
    }

    /** The body will be taken with {@link #takePart}, as it arrives. */
    public void beginParts() {
        remaining = length;
    }

    /**
     * Hands what {@code in} holds of the body to the caller; returns how many of the next bytes of {@code in} that are.
     * The body is complete if {@link #isInBody} is false afterwards.
     */
    public int takePart(ByteBuf in) {
        int part = (int) Math.min(remaining, in.readableBytes());
        remaining -= part;
        if (remaining == 0) {
            remaining = -1;
            inBody = false;
        }
        return part;
    }

    /**
     * Takes what {@code in} holds of the body; returns the whole body, the caller's to release, or null if more must
     * come.
     *
     * <p>A body that {@code in} holds whole is a retained slice of it. Otherwise it is put together in one buffer of
     * its length, which is allocated only when half of it has arrived: a peer that announces much and sends little
     * costs little. Until then, retained slices of large reads are kept, and copies of small ones: at most twice the
     * bytes that have arrived.
     */
    public @Nullable ByteBuf readBody(ByteBuf in, ByteBufAllocator alloc) {
        if (!splitBody.isOpen()) {
            int whole = Math.toIntExact(length);
            if (whole <= in.readableBytes()) {
                inBody = false;
                return whole == 0 ? Unpooled.EMPTY_BUFFER : in.readRetainedSlice(whole);
            }
            if (!in.isReadable()) {
                return null;
            }
            splitBody.begin(whole);
        }
        ByteBuf body = splitBody.read(in, alloc);
        if (body != null) {
            inBody = false;
        }
        return body;
    }

    /**
     * The buffer in which a body is put together, and which {@link #readBody} returns in the end; null as long as less
     * than half of the body has arrived. Its readable bytes have arrived, and may be changed. It stays the reader's.
     */
    public @Nullable ByteBuf unfinishedBody() {
        return splitBody.whole();
    }

    /**
     * Returns the buffer that the transport should read into next, the caller's to release; or null if any will do.
     *
     * <p>It is returned if that saves a copy or a read: the free part of the buffer in which a body is put together, or
     * one for all of a body. It is not much larger than what has arrived of the frame and two usual reads. Bytes that
     * are read into another buffer are taken as well.
     *
     * @param usual the length of a read that the transport makes on its own
     */
    public @Nullable ByteBuf nextRead(ByteBufAllocator alloc, int usual) {
        return inBody && remaining < 0 ? splitBody.nextRead(Math.toIntExact(length), alloc, usual) : null;
    }

    /** Releases what is kept of an unfinished frame. */
    public void close() {
        splitBody.close();
    }
}
