package dev.zmtp.security;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPFraming;
import dev.zmtp.internal.wire.Copies;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Seals frames as the MESSAGE commands of CURVE (RFC 26, "CurveZMQ MESSAGE").
 *
 * <pre>
 *   message = 7 "MESSAGE"  nonce:8  box of (flags:1  body)
 *   flags   = bit 0: MORE, bit 1: a command, as libzmq sends SUBSCRIBE, CANCEL, PING, PONG, JOIN and LEAVE
 * </pre>
 */
final class CurveCipher implements ZMTPMechanism.FrameCipher {

    /** Command name, encoded as 7 "MESSAGE". */
    private static final long NAME =
            ByteBuffer.wrap("\7MESSAGE".getBytes(StandardCharsets.US_ASCII)).getLong();

    private static final int HEADER_LENGTH = Long.BYTES + CurveBoxes.SHORT_NONCE_LENGTH + SecretBox.MAC_LENGTH;
    private static final int FLAGS_LENGTH = 1;

    private static final int MORE = 1;
    private static final int COMMAND = 2;

    private final SecretBox ours;
    private final SecretBox theirs;

    /** Nonce of the next frame to seal. */
    private long nextCount;

    /** Nonce of the last opened frame. */
    private long lastCount;

    /** Whether the next frame was opened in part. */
    private boolean opening;

    /** Nonce of the frame that is being opened. */
    private long openingCount;

    /**
     * Creates a cipher that seals with {@code ours}, starting at {@code nextCount}, and opens frames after
     * {@code lastCount} with {@code theirs}.
     */
    CurveCipher(SecretBox ours, long nextCount, SecretBox theirs, long lastCount) {
        this.ours = ours;
        this.nextCount = nextCount;
        this.theirs = theirs;
        this.lastCount = lastCount;
    }

    /** Checks a nonce of the peer, which must be greater than the previous nonce. */
    static void checkCount(long count, long last) {
        if (Long.compareUnsigned(count, last) <= 0) {
            throw ZMTPException.malformed(
                    "CURVE nonce", Long.toUnsignedString(count), "> " + Long.toUnsignedString(last));
        }
    }

    @Override
    public int sealedLength(int length) {
        return Math.addExact(HEADER_LENGTH + FLAGS_LENGTH, length);
    }

    @Override
    public void seal(int flags, ByteBuf body, ByteBuf out) {
        if (nextCount == -1) { // the next one would be 0 again
            throw new IllegalStateException("CURVE nonce: " + Long.toUnsignedString(nextCount)
                    + " (expected: a smaller one, on a new connection)");
        }
        long count = nextCount++;
        out.writeLong(NAME).writeLong(count).writeZero(SecretBox.MAC_LENGTH);
        int start = out.writerIndex();
        out.writeByte(
                ((flags & ZMTPFraming.MORE) != 0 ? MORE : 0) | ((flags & ZMTPFraming.COMMAND) != 0 ? COMMAND : 0));
        Copies.append(out, body, body.readerIndex(), body.readableBytes());
        ours.seal(count, out, start, out.writerIndex() - start);
    }

    @Override
    public int open(ByteBuf sealed) {
        int length = sealed.readableBytes() - HEADER_LENGTH;
        if (length < FLAGS_LENGTH) {
            throw ZMTPException.malformed(
                    "MESSAGE length", sealed.readableBytes(), ">= " + (HEADER_LENGTH + FLAGS_LENGTH));
        }
        if (!opening) {
            begin(sealed);
        }
        opening = false;
        if (!theirs.open(sealed, sealed.readerIndex() + HEADER_LENGTH, length)) {
            throw ZMTPException.malformed("MESSAGE", "a box that does not open", "one of this connection");
        }
        lastCount = openingCount;
        int flags = sealed.skipBytes(HEADER_LENGTH).readUnsignedByte();
        return switch (flags) {
            case 0 -> 0;
            case MORE -> ZMTPFraming.MORE;
            case COMMAND -> ZMTPFraming.COMMAND;
            default -> throw ZMTPException.malformed("MESSAGE flags", flags, "0, 1 or 2");
        };
    }

    @Override
    public void openPart(ByteBuf sealed, int length) {
        if (length < HEADER_LENGTH) {
            return;
        }
        if (!opening) {
            begin(sealed);
            opening = true;
        }
        theirs.openPart(sealed, sealed.readerIndex() + HEADER_LENGTH, length - HEADER_LENGTH);
    }

    private void begin(ByteBuf sealed) {
        int start = sealed.readerIndex();
        if (sealed.getLong(start) != NAME) {
            throw ZMTPException.of(ZMTPException.Code.UNEXPECTED, "frame", "in clear text", "a MESSAGE of CURVE");
        }
        openingCount = sealed.getLong(start + Long.BYTES);
        checkCount(openingCount, lastCount);
        theirs.begin(openingCount);
    }

    /** Wipes the keys. Nothing can be sealed or opened afterwards. */
    void wipe() {
        ours.wipe();
        theirs.wipe();
    }
}
