package dev.zmtp;

import io.netty.buffer.ByteBuf;

/**
 * Layout of a frame, which is a header with the length and the meaning of the body, followed by the body.
 *
 * <pre>
 *   V1 (RFC 13)  short  length:1 (01..fe)            flags:1   body[length - 1]
 *                long   ff  length:8                 flags:1   body[length - 1]
 *   V2 (RFC 15)  short  flags:1 (LONG = 0)  length:1           body[length]
 *   V3 (RFC 23)  long   flags:1 (LONG = 1)  length:8           body[length]
 *
 *       7   6   5   4   3      2        1      0
 *     +---+---+---+---+---+---------+------+------+
 *     |    reserved (0)   | COMMAND | LONG | MORE |   V2 has no COMMAND, V1 has MORE alone
 *     +---+---+---+---+---+---------+------+------+
 * </pre>
 *
 * <p>Lengths are in network byte order, and their top bit is 0. A header is 2, 9 or 10 bytes long.
 * {@link ZMTPVersion#framing()} returns the layout of a version. Most applications do not need this class, because
 * {@link ZMTPMessage#read} and {@link ZMTPMessage#write(ZMTPVersion)} read and write whole messages.
 */
public enum ZMTPFraming {
    /** Layout of ZMTP 1.0. The length precedes the flags byte and includes it. The receiver ignores reserved bits. */
    V1(0) {
        @Override
        public int headerLengthForBody(int length) {
            return length <= maxShortBody() ? 2 : 10;
        }

        @Override
        public int maxShortBody() {
            return V1_LONG_MARK - 2;
        }

        @Override
        public int shortHeader(int flags, int length) {
            return (length + 1) << 8 | flags;
        }

        @Override
        public void writeLongHeader(ByteBuf out, int flags, int length) {
            out.writeByte(V1_LONG_MARK).writeLong(length + 1L).writeByte(flags);
        }

        @Override
        public int headerLengthFromFirstByte(int first) {
            if (first == 0) { // a length of 0 has no flags byte after it to wait for
                throw zeroLength();
            }
            return first == V1_LONG_MARK ? 10 : 2;
        }

        @Override
        public int rawFlagsAt(ByteBuf in, int index) {
            return in.getUnsignedByte(index + headerLengthFromFirstByte(in.getUnsignedByte(index)) - 1);
        }

        @Override
        public int flagsAt(ByteBuf in, int index) {
            return rawFlagsAt(in, index) & MORE; // RFC 13 reserves the other bits, and every 1.0 peer ignores them
        }

        @Override
        public long bodyLengthAt(ByteBuf in, int index) {
            int first = in.getUnsignedByte(index);
            long length = first == V1_LONG_MARK ? in.getLong(index + 1) : first;
            if (length == 0) {
                throw zeroLength();
            }
            return checkTopBit(length) - 1;
        }

        @Override
        public int shortMessageHeader(int header) {
            int first = header >>> 8;
            return first == 0 || first == V1_LONG_MARK ? -1 : (header & MORE) << 8 | first - 1;
        }
    },
    /** Layout of ZMTP 2.0. The flags precede the length. */
    V2(~(ZMTPFraming.MORE | ZMTPFraming.LONG) & 0xff),
    /** Layout of ZMTP 3.0 and 3.1, like V2 with commands as a second kind of frame. */
    V3(~(ZMTPFraming.MORE | ZMTPFraming.LONG | ZMTPFraming.COMMAND) & 0xff);

    /** Flag of a frame that another frame of the same message follows. */
    public static final int MORE = 0x01;
    /** Flag of a frame whose length takes eight bytes. */
    public static final int LONG = 0x02;
    /** Flag of a frame whose body is a command and not part of a message. */
    public static final int COMMAND = 0x04;

    /** Maximum length of a header in any layout, in bytes. */
    public static final int MAX_HEADER = 10;

    private static final int V1_LONG_MARK = 0xff;

    private final int reserved;

    ZMTPFraming(int reserved) {
        this.reserved = reserved;
    }

    /** Returns the length of the header that is written before a body of {@code length} bytes. */
    public int headerLengthForBody(int length) {
        return length <= maxShortBody() ? 2 : 9;
    }

    /** Returns the maximum length of a body whose header is two bytes long. */
    public int maxShortBody() {
        return 0xff;
    }

    /**
     * Returns the header of a frame of at most {@link #maxShortBody()} bytes, with its first byte in the bits 8 to 15.
     *
     * @param flags {@link #MORE}, {@link #COMMAND} or 0
     * @param length the length of the body, which is not checked
     */
    public int shortHeader(int flags, int length) {
        return flags << 8 | length;
    }

    /**
     * Appends the shortest header of a frame to {@code out}.
     *
     * @param flags {@link #MORE}, {@link #COMMAND} or 0
     * @param length the length of the body that will follow, at least 0
     */
    public final void writeHeader(ByteBuf out, int flags, int length) {
        if (headerLengthForBody(length) == 2) {
            out.writeShort(shortHeader(flags, length));
        } else {
            writeLongHeader(out, flags, length);
        }
    }

    /** Appends the header of a frame with a length of eight bytes, even if the body is short. */
    public void writeLongHeader(ByteBuf out, int flags, int length) {
        out.writeByte(flags | LONG).writeLong(length);
    }

    /**
     * Returns the length of a received header whose first byte is {@code first}.
     *
     * @throws ZMTPException if no header starts with that byte
     */
    public int headerLengthFromFirstByte(int first) {
        return (first & LONG) == 0 ? 2 : 9;
    }

    /** Returns the unchecked flags byte of the complete header at {@code index}, including reserved bits. */
    public int rawFlagsAt(ByteBuf in, int index) {
        return in.getUnsignedByte(index);
    }

    /**
     * Returns the {@link #MORE} and {@link #COMMAND} flags of the complete header at {@code index}. Does not move an
     * index.
     *
     * @throws ZMTPException if reserved bits are set, or MORE is set on a command
     */
    public int flagsAt(ByteBuf in, int index) {
        int flags = in.getUnsignedByte(index);
        if ((flags & reserved) != 0) {
            throw ZMTPException.malformed("frame flags", hex(flags), "reserved bits 0");
        }
        if ((flags & (COMMAND | MORE)) == (COMMAND | MORE)) {
            throw ZMTPException.malformed("frame flags", hex(flags), "no MORE on a command");
        }
        return flags & ~LONG;
    }

    /**
     * Returns the length of the body announced by the complete header at {@code index}, from 0 to 2^63 - 1. Does not
     * move an index.
     *
     * @throws ZMTPException if the length has its top bit set, or is 0 where it includes the flags byte
     */
    public long bodyLengthAt(ByteBuf in, int index) {
        boolean isShort = (in.getByte(index) & LONG) == 0;
        return isShort ? in.getUnsignedByte(index + 1) : checkTopBit(in.getLong(index + 1));
    }

    /**
     * Reads the most common header, that of a message frame with a length of one byte, in a single step.
     *
     * @param header the first two bytes of a header, the first byte in the bits 8 to 15
     * @return {@link #MORE} or 0 in the bits 8 and above and the length of the body in the bits 0 to 7; or -1 if it is
     *     another header, or illegal
     */
    public int shortMessageHeader(int header) {
        return header >>> 8 <= MORE ? header : -1;
    }

    private static long checkTopBit(long length) {
        if (length < 0) {
            throw ZMTPException.malformed("frame length", Long.toUnsignedString(length), "<= " + Long.MAX_VALUE);
        }
        return length;
    }

    private static ZMTPException zeroLength() {
        return ZMTPException.malformed("frame length", 0, ">= 1, it counts the flags byte");
    }

    private static String hex(int flags) {
        return "0x" + Integer.toHexString(flags);
    }
}
