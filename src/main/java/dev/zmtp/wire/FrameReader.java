package dev.zmtp.wire;

import dev.zmtp.ZMTPVersion;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a stream of octets, however it arrives, into frames of one version.
 *
 * <p>For each frame: {@link #readHeader} until it returns true, judge {@link #length()}, then {@link #readBody} until it
 * returns the body. Between reads it keeps what has come of a header or a body and nothing else; of the caller's buffers
 * only large ones that hold little else. {@link #close()} releases what is kept. Not thread safe: one instance per connection.
 */
public final class FrameReader {

    private final ZMTPVersion version;

    /** The octets of a header that is split over several reads. On the heap and not pooled: nothing to release. */
    private @Nullable ByteBuf splitHeader;

    /** What has come of a body that is split over several reads. */
    private final SplitBody splitBody = new SplitBody();

    private boolean hasHeader;
    private int rawFlags;
    private boolean longHeader;
    private int flags;
    private long length;

    /** A reader of the frames of {@code version}. */
    public FrameReader(ZMTPVersion version) {
        this.version = version;
    }

    /**
     * Takes what {@code in} holds of the next header; returns whether the header is complete.
     *
     * @throws dev.zmtp.ZMTPException if the header is illegal
     */
    public boolean readHeader(ByteBuf in) {
        if (hasHeader) {
            return true;
        }
        if (splitHeader != null && splitHeader.isReadable()) {
            return readSplitHeader(splitHeader, in);
        }
        if (!in.isReadable()) {
            return false;
        }
        int header = version.headerLengthOf(in.getUnsignedByte(in.readerIndex()));
        if (in.readableBytes() < header) {
            if (splitHeader == null) {
                splitHeader = Unpooled.buffer(ZMTPVersion.MAX_FRAME_HEADER, ZMTPVersion.MAX_FRAME_HEADER);
            }
            splitHeader.clear().writeBytes(in);
            return false;
        }
        parse(in, in.readerIndex(), header);
        in.skipBytes(header);
        return true;
    }

    /**
     * Takes the header of a message frame that {@code in} holds whole, if its header is a short one: most are such, and
     * nothing need be remembered of them. The body is then the caller's to take, the next octets of {@code in}.
     *
     * @return the flags in the bits 8 and above and the length of the body in the bits 0 to 7; or -1, with nothing taken, if
     *     the next frame is another, for {@link #readHeader}
     */
    public int readShortFrame(ByteBuf in) {
        int readable = in.readableBytes();
        if (readable < 2 || hasHeader || isHeaderSplit()) {
            return -1;
        }
        int index = in.readerIndex();
        int header = version.shortMessageHeader(in.getUnsignedShort(index));
        if (header < 0 || 2 + (header & 0xff) > readable) {
            return -1;
        }
        in.readerIndex(index + 2);
        return header;
    }

    /** Whether a part of a frame has been taken whose rest is still to come. */
    public boolean isMidFrame() {
        return hasHeader || isHeaderSplit();
    }

    private boolean isHeaderSplit() {
        return splitHeader != null && splitHeader.isReadable();
    }

    private boolean readSplitHeader(ByteBuf split, ByteBuf in) {
        int header = version.headerLengthOf(split.getUnsignedByte(0));
        split.writeBytes(in, Math.min(header - split.readableBytes(), in.readableBytes()));
        if (split.readableBytes() < header) {
            return false;
        }
        parse(split, 0, header);
        split.clear();
        return true;
    }

    private void parse(ByteBuf in, int index, int header) {
        flags = version.flagsAt(in, index);
        longHeader = header > 2;
        rawFlags = in.getUnsignedByte(version == ZMTPVersion.ZMTP10 ? index + header - 1 : index);
        length = version.bodyLengthAt(in, index);
        hasHeader = true;
    }

    /** The MORE and COMMAND flags of the frame whose header was read. */
    public int flags() {
        return flags;
    }

    /** The flags octet as it came, with the bits that a reader of the version ignores. */
    public int rawFlags() {
        return rawFlags;
    }

    /** Whether the length took eight octets. */
    public boolean hasLongHeader() {
        return longHeader;
    }

    /** Whether another frame of the same message follows. */
    public boolean hasMore() {
        return (flags & ZMTPVersion.MORE) != 0;
    }

    /** Whether the frame is a command. */
    public boolean isCommand() {
        return (flags & ZMTPVersion.COMMAND) != 0;
    }

    /** The octets of the body: 0 to 2^63 - 1. To be judged before {@link #readBody} is called. */
    public long length() {
        return length;
    }

    /** Whether {@code in} holds the whole body. */
    public boolean isBodyIn(ByteBuf in) {
        return length <= in.readableBytes() && !splitBody.isOpen();
    }

    /**
     * Takes what {@code in} holds of the body; returns the whole body, the caller's to release, or null if more must come.
     *
     * <p>A body that {@code in} holds whole is a retained slice of it. Else it is put together in one buffer of its length,
     * which is taken only when half of it has come: a peer that announces much and sends little costs little. Until then,
     * retained slices of large reads are kept, and copies of small ones: at most twice the octets that have come.
     */
    public @Nullable ByteBuf readBody(ByteBuf in, ByteBufAllocator alloc) {
        if (!splitBody.isOpen()) {
            int whole = Math.toIntExact(length);
            if (whole <= in.readableBytes()) {
                hasHeader = false;
                return whole == 0 ? Unpooled.EMPTY_BUFFER : in.readRetainedSlice(whole);
            }
            if (!in.isReadable()) {
                return null;
            }
            splitBody.begin(whole);
        }
        ByteBuf body = splitBody.read(in, alloc);
        if (body != null) {
            hasHeader = false;
        }
        return body;
    }

    /** Whether so many octets are half or more of the memory that a slice of {@code in} keeps from being used again. */
    public static boolean isMostOf(ByteBuf in, int octets) {
        return octets >= keptBy(in) / 2;
    }

    /** How much memory a slice of {@code in} keeps from being used again: very much, if that cannot be told. */
    static int keptBy(ByteBuf in) {
        ByteBuf root = in;
        for (ByteBuf next = in.unwrap(); next != null; next = next.unwrap()) {
            root = next;
        }
        return root instanceof CompositeByteBuf ? Integer.MAX_VALUE : root.capacity();
    }

    /** Marks the body as consumed by a caller that took its octets itself instead of calling {@link #readBody}. */
    public void bodyTaken() {
        hasHeader = false;
    }

    /** Releases what is kept of an unfinished frame. */
    public void close() {
        splitBody.close();
    }
}
