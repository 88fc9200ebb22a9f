package dev.zmtp.internal.wire;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPVersion;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Splits a stream of bytes, received in pieces of any size, into frames of a version.
 *
 * <p>For each frame, call {@link #readHeader} until it returns true, and check {@link #length()}. Then read the body in
 * one of three ways: with {@link #takeBody} if it {@linkplain #isBodyIn is completely available}, with {@link
 * #readBody} to have it assembled, or with {@link #beginParts} and {@link #takePart} to process it as it arrives. Only
 * this class tracks the number of missing bytes of a frame.
 *
 * <p>Between reads, the reader retains only the received part of a header or a body. It retains a buffer of the caller
 * only if the buffer is large and holds little other data. {@link #close()} releases the retained data. Not thread
 * safe. Each connection has its own instance.
 */
public final class FrameReader {

    private final ZMTPFraming framing;

    /**
     * The bytes of a header that is split over several reads. On the heap and unpooled, so that it needs no release.
     */
    private @Nullable ByteBuf splitHeader;

    /** The received part of a body that is split over several reads. */
    private final SplitBody splitBody;

    private boolean inBody;
    private int rawFlags;
    private boolean longHeader;
    private int flags;
    private long length;

    /** The number of missing bytes of a body that is read in parts; -1 if the body is not read in parts. */
    private long remaining = -1;

    /**
     * A reader of the frames of {@code version}.
     *
     * @param reservation receives the number of additional bytes of a body that is assembled from several reads, before
     *     its memory is allocated; {@link #readBody} throws its exceptions
     */
    public FrameReader(ZMTPVersion version, LongConsumer reservation) {
        this.framing = version.framing();
        this.splitBody = new SplitBody(reservation);
    }

    /** Returns the number of bytes of memory that are retained for an unfinished frame. */
    public long kept() {
        return splitBody.kept();
    }

    /**
     * Reads the part of the next header in {@code in}. Returns whether the header is complete.
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
        int header = framing.headerLengthFromFirstByte(in.getUnsignedByte(in.readerIndex()));
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
     * Reads the header of a message frame if the frame is completely in {@code in} and has a short header, like most
     * frames. The reader stores nothing about such a frame. The caller must read the body, the next bytes of {@code
     * in}.
     *
     * @return the flags in the bits 8 and above and the length of the body in the bits 0 to 7; or -1, with nothing
     *     read, if the next frame does not qualify and is for {@link #readHeader}
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

    /** Returns whether a header was read and a part of its body was not. */
    public boolean isInBody() {
        return inBody;
    }

    /** Returns whether a part of a frame was read and the rest is missing. */
    public boolean isMidFrame() {
        return inBody || isHeaderSplit();
    }

    /** Describes the partially read frame, for an exception message; null between frames. */
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
                + framing.headerLengthFromFirstByte(header.getUnsignedByte(0)) + ")";
    }

    private boolean isHeaderSplit() {
        return splitHeader != null && splitHeader.isReadable();
    }

    private boolean readSplitHeader(ByteBuf split, ByteBuf in) {
        int header = framing.headerLengthFromFirstByte(split.getUnsignedByte(0));
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

    /** Returns the MORE and COMMAND flags of the frame whose header was read. */
    public int flags() {
        return flags;
    }

    /** Returns the flags byte as received, including the bits that a reader of the version ignores. */
    public int rawFlags() {
        return rawFlags;
    }

    /** Returns whether the length field has eight bytes. */
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

    /** Returns the length of the body in bytes, 0 to 2^63 - 1. Must be checked before the body is read. */
    public long length() {
        return length;
    }

    /** Returns whether {@code in} has the whole body, and no part of it was read yet. */
    public boolean isBodyIn(ByteBuf in) {
        return length <= in.readableBytes() && !splitBody.isOpen() && remaining < 0;
    }

    /**
     * Passes the body, the next bytes of {@code in}, to the caller. {@code in} must {@linkplain #isBodyIn have them
     * all}. Returns the length of the body.
     */
    public int takeBody() {
        inBody = false;
        return (int) length;
    }

    /** Prepares for reading the body with {@link #takePart}, as it arrives. */
    public void beginParts() {
        remaining = length;
    }

    /**
     * Passes the part of the body in {@code in} to the caller, and returns its length. It consists of the next bytes of
     * {@code in}. The body is complete if {@link #isInBody} is false afterwards.
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
     * Reads the part of the body in {@code in}. Returns the whole body, which the caller releases, or null if more
     * bytes are needed.
     *
     * <p>A body that is completely in {@code in} is returned as a retained slice. Otherwise it is assembled in one
     * buffer of its length, which is allocated only when half of it has arrived, so that a peer that announces much and
     * sends little costs little. Until then, retained slices of large reads and copies of small reads are kept, which
     * use at most twice the number of bytes that have arrived.
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
     * Returns the buffer in which a body is assembled, and which {@link #readBody} finally returns; null while less
     * than half of the body has arrived. Its readable bytes have arrived, and may be changed. The reader retains
     * ownership.
     */
    public @Nullable ByteBuf unfinishedBody() {
        return splitBody.whole();
    }

    /**
     * Returns the buffer that the transport should read into next, which the caller releases; or null if any buffer is
     * suitable.
     *
     * <p>A buffer is returned if it saves a copy or a read. It is the free part of the buffer in which a body is
     * assembled, or a buffer for a whole body. It is not much larger than the received part of the frame plus two usual
     * reads. Bytes that are read into another buffer are accepted as well.
     *
     * @param usual the length of a read that the transport makes on its own
     */
    public @Nullable ByteBuf nextRead(ByteBufAllocator alloc, int usual) {
        return inBody && remaining < 0 ? splitBody.nextRead(Math.toIntExact(length), alloc, usual) : null;
    }

    /** Releases the retained data of an unfinished frame. */
    public void close() {
        splitBody.close();
    }
}
