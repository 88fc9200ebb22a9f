package dev.zmtp.internal.wire;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPVersion;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * The layout of the first bytes that each side sends (RFC 15, "Greeting"; RFC 23 and 37, "Greeting").
 *
 * <pre>
 *   offset  0         1 .. 8          9         10        11
 *        +------+-------------------+------+----------+-------------+
 *        |  ff  | identity length+1 |  7f  | revision | socket type |                        ZMTP 2.0: 12
 *        +------+-------------------+------+----------+-------------+-----------+------+
 *        |         signature               | major 3  |    minor    | mechanism | as-  | filler
 *        +---------------------------------+----------+-------------+-----------+server+--------+
 *                                                         offset     12 .. 31     32    33 .. 63  ZMTP 3.x: 64
 * </pre>
 *
 * <p>Bytes 1 to 8 are padding for a 3.x peer. A 1.0 peer reads the signature as the header of a long identity frame, so
 * these bytes contain the length of that frame, including the flags byte.
 */
public final class Greeting {

    /** Length of the signature. */
    public static final int SIGNATURE_LENGTH = 10;
    /** Length of the greeting of a 2.0 peer, or of a 1.0 peer that has a signature. */
    public static final int V2_LENGTH = 12;
    /** Length of a 3.x greeting. */
    public static final int V3_LENGTH = 64;

    /** The first byte of a signature. A 1.0 peer starts with it only if its identity is 254 or 255 bytes long. */
    public static final int SIGNATURE_FIRST = 0xff;
    /** Offset of the byte whose lowest bit distinguishes a signature from a 1.0 frame header. */
    public static final int SIGNATURE_LAST_OFFSET = 9;
    /** The last byte of this side's signature. */
    public static final int SIGNATURE_LAST = 0x7f;
    /** Offset of the revision, which is the major version from 3.0 on. */
    public static final int REVISION_OFFSET = 10;
    /** Offset of the minor version in 3.x, and of the socket type in earlier versions. */
    public static final int MINOR_OFFSET = 11;

    /** Maximum length of an identity, in bytes. */
    public static final int MAX_IDENTITY_LENGTH = 255;
    /** Maximum length of the name of a mechanism, in bytes. */
    public static final int MAX_MECHANISM_LENGTH = 20;

    private static final int MECHANISM_OFFSET = 12;
    private static final int FILLER_LENGTH = 31;

    private Greeting() {}

    /** Appends the signature of a peer whose identity is {@code identityLength} bytes long. */
    public static void writeSignature(ByteBuf out, int identityLength) {
        out.writeByte(SIGNATURE_FIRST).writeLong(identityLength + 1L).writeByte(SIGNATURE_LAST);
    }

    /** Appends the part of a 3.x greeting after the major version. */
    public static void writeRest(ByteBuf out, ZMTPVersion version, String mechanism, boolean asServer) {
        out.writeByte(version.minor());
        out.writeCharSequence(mechanism, StandardCharsets.US_ASCII);
        out.writeZero(MAX_MECHANISM_LENGTH - mechanism.length());
        out.writeBoolean(asServer);
        out.writeZero(FILLER_LENGTH);
    }

    /**
     * Checks that a complete 3.x greeting, which starts at {@code index}, names exactly {@code mechanism}, padded with
     * zeros. As-server and the filler are not checked, because libzmq never sets the former, and no peer checks the
     * latter.
     *
     * @throws ZMTPException if it names another mechanism
     */
    public static void checkMechanism(ByteBuf greeting, int index, String mechanism) {
        int start = index + MECHANISM_OFFSET;
        for (int i = 0; i < MAX_MECHANISM_LENGTH; i++) {
            char expected = i < mechanism.length() ? mechanism.charAt(i) : 0;
            if (greeting.getUnsignedByte(start + i) != expected) {
                String padded = greeting.toString(start, MAX_MECHANISM_LENGTH, StandardCharsets.ISO_8859_1);
                String shown = padded.replaceAll("\0+$", "").replace(' ', '?');
                throw ZMTPException.of(ZMTPException.Code.MECHANISM, "mechanism", shown, mechanism);
            }
        }
    }

    /**
     * Checks the length of a peer's identity, possibly before its bytes have arrived. RFC 37 forbids identities that
     * begin with a zero, but libzmq and JeroMQ send and accept them, and one random UUID in 256 begins with a zero.
     *
     * @throws ZMTPException if it is longer than 255 bytes
     */
    public static void checkIdentityLength(long length) {
        if (length > MAX_IDENTITY_LENGTH) {
            throw ZMTPException.tooLarge("identity length", length, MAX_IDENTITY_LENGTH);
        }
    }

    /**
     * Returns the failure of a peer whose first two bytes belong neither to a greeting nor to a 1.0 peer. The message
     * names the protocol that starts with these bytes. It does not include the bytes after them, because their number
     * depends on how the bytes arrive.
     */
    public static ZMTPException notZmtp(int first, int second) {
        String peer = switch ("" + (char) first + (char) second) {
            case "GE", "HE", "PO", "PU", "DE", "OP", "PA", "CO", "PR" -> ", looks like an HTTP request";
            case "HT" -> ", looks like an HTTP answer";
            case "SS" -> ", looks like SSH";
            case "\u0016\u0003" -> ", looks like a TLS handshake";
            default -> "";
        };
        return ZMTPException.malformed(
                "first bytes", "0x" + Integer.toHexString(first << 8 | second) + peer, "a ZMTP greeting");
    }
}
