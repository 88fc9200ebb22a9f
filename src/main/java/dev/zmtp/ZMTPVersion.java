package dev.zmtp;

import io.netty.buffer.ByteBuf;

/**
 * A version of ZMTP, and how it lays out the header of a frame.
 *
 * <p>The constants are in ascending order, so {@code compareTo} tells the older from the newer.
 *
 * <pre>
 *   ZMTP 1.0 (RFC 13)    length:1 (01..fe)            flags:1   body[length - 1]
 *                        ff  length:8                 flags:1   body[length - 1]
 *   ZMTP 2.0 (RFC 15)    flags:1 (LONG = 0)  length:1           body[length]
 *   ZMTP 3.x (RFC 23,37) flags:1 (LONG = 1)  length:8           body[length]
 *
 *          7   6   5   4   3      2        1      0
 *        +---+---+---+---+---+---------+------+------+
 *        |    reserved (0)   | COMMAND | LONG | MORE |   COMMAND exists from 3.0 on and excludes MORE
 *        +---+---+---+---+---+---------+------+------+
 * </pre>
 */
public enum ZMTPVersion {
    /** RFC 13: no version in the greeting, no socket types. What libzmq 2.x speaks. */
    ZMTP10(0, 0),
    /** RFC 15: what libzmq 3.x speaks. */
    ZMTP20(1, 0),
    /** RFC 23: commands and security mechanisms. What libzmq 4.0 to 4.3.2 and JeroMQ speak. */
    ZMTP30(3, 0),
    /** RFC 37: subscriptions as commands, heartbeats. What libzmq speaks since 4.3.3. */
    ZMTP31(3, 1);

    /** Flag: another frame of the same message follows. */
    public static final int MORE = 0x01;
    /** Flag: the length takes eight octets. */
    public static final int LONG = 0x02;
    /** Flag: the body is a command, not part of a message. */
    public static final int COMMAND = 0x04;

    /** The most octets that the header of a frame can take, in any version. */
    public static final int MAX_FRAME_HEADER = 10;

    private static final int V1_LONG = 0xff;
    private static final int V1_MAX_SHORT_BODY = 0xfe - 1;
    private static final int V2_MAX_SHORT_BODY = 0xff;

    private final int revision;
    private final int minor;
    private final boolean v1;
    private final int reserved;

    ZMTPVersion(int revision, int minor) {
        this.revision = revision;
        this.minor = minor;
        this.v1 = revision == 0;
        this.reserved = revision >= 3 ? ~(MORE | LONG | COMMAND) & 0xff : ~(MORE | LONG) & 0xff;
    }

    /** The octet at offset 10 of the greeting: 0 for 1.0 framing, 1 for 2.0, 3 for 3.x. */
    public int revision() {
        return revision;
    }

    /** The octet at offset 11 of a 3.x greeting; 0 for the older versions. */
    public int minor() {
        return minor;
    }

    /** Whether this version knows commands, and so READY, ERROR, PING and mechanisms. */
    public boolean hasCommands() {
        return revision >= 3;
    }

    /** Octets that the header in front of a body of {@code length} octets takes when it is written. */
    public int headerLengthFor(int length) {
        if (length <= maxShortBody()) {
            return 2;
        }
        return v1 ? 10 : 9;
    }

    /** The longest body whose header takes two octets. */
    public int maxShortBody() {
        return v1 ? V1_MAX_SHORT_BODY : V2_MAX_SHORT_BODY;
    }

    /**
     * The header of a frame of at most {@link #maxShortBody()} octets, the first of its two octets in the bits 8 to 15.
     *
     * @param flags {@link #MORE}, {@link #COMMAND} or 0
     * @param length octets of the body, which is not checked
     */
    public int shortHeader(int flags, int length) {
        return v1 ? (length + 1) << 8 | flags : flags << 8 | length;
    }

    /**
     * Appends the header of a frame to {@code out}, in the shortest form.
     *
     * @param flags {@link #MORE}, {@link #COMMAND} or 0
     * @param length octets of the body that will follow, at least 0
     */
    public void writeHeader(ByteBuf out, int flags, int length) {
        if (headerLengthFor(length) == 2) {
            out.writeShort(shortHeader(flags, length));
        } else {
            writeLongHeader(out, flags, length);
        }
    }

    /** Appends the header of a frame with its length in eight octets, whatever the length. */
    public void writeLongHeader(ByteBuf out, int flags, int length) {
        if (v1) {
            out.writeByte(V1_LONG).writeLong(length + 1L).writeByte(flags);
        } else {
            out.writeByte(flags | LONG).writeLong(length);
        }
    }

    /**
     * Octets that a received header takes which starts with the octet {@code first}.
     *
     * @throws ZMTPException if no header can start so: a length of 0 has no flags octet behind it to wait for
     */
    public int headerLengthOf(int first) {
        if (v1) {
            if (first == 0) {
                throw zeroLength();
            }
            return first == V1_LONG ? 10 : 2;
        }
        return (first & LONG) == 0 ? 2 : 9;
    }

    /**
     * The {@link #MORE} and {@link #COMMAND} flags of the complete header at {@code index}, which is not moved.
     *
     * @throws ZMTPException if reserved bits are set, or MORE on a command
     */
    public int flagsAt(ByteBuf in, int index) {
        if (v1) {
            // RFC 13 reserves bits 1 to 7 and lets the receiver ignore them; so does every 1.0 peer.
            return in.getByte(index + headerLengthOf(in.getUnsignedByte(index)) - 1) & MORE;
        }
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
     * Octets of the body that the complete header at {@code index} announces: 0 to 2^63 - 1. Nothing is moved.
     *
     * @throws ZMTPException if the length has its top bit set, or is 0 where it counts the flags octet too
     */
    public long bodyLengthAt(ByteBuf in, int index) {
        int first = in.getUnsignedByte(index);
        long length;
        if (v1) {
            length = first == V1_LONG ? in.getLong(index + 1) : first;
            if (length == 0) {
                throw zeroLength();
            }
        } else {
            length = (first & LONG) == 0 ? in.getUnsignedByte(index + 1) : in.getLong(index + 1);
        }
        if (length < 0) {
            throw ZMTPException.malformed("frame length", Long.toUnsignedString(length), "<= " + Long.MAX_VALUE);
        }
        return v1 ? length - 1 : length;
    }

    /**
     * Reads the commonest header at once: that of a message frame with a length of one octet.
     *
     * @param octets the first two octets of a header, the first one in the bits 8 to 15
     * @return {@link #MORE} or 0 in the bits 8 and above and the length of the body in the bits 0 to 7; or -1 if it is
     *     another header, or illegal
     */
    public int shortMessageHeader(int octets) {
        if (v1) {
            int first = octets >>> 8;
            return first == 0 || first == V1_LONG ? -1 : (octets & MORE) << 8 | first - 1;
        }
        return octets >>> 8 <= MORE ? octets : -1;
    }

    private static ZMTPException zeroLength() {
        return ZMTPException.malformed("frame length", 0, ">= 1, it counts the flags octet");
    }

    private static String hex(int octet) {
        return "0x" + Integer.toHexString(octet);
    }
}
