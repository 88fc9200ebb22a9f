package dev.zmtp.security;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.internal.wire.Command;
import dev.zmtp.internal.wire.Metadata;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Lengths, nonces and boxes of the CURVE handshake (RFC 26, "CurveZMQ Commands").
 *
 * <pre>
 *   nonce = prefix:16 count:8                  short: the count is sent
 *   nonce = prefix:8  random:16                long: the random part is sent
 *   box   = mac:16    ciphertext
 * </pre>
 */
final class CurveBoxes {

    /** Length of a short nonce on the wire, in bytes. */
    static final int SHORT_NONCE_LENGTH = Long.BYTES;
    /** Length of a long nonce on the wire, in bytes. */
    static final int LONG_NONCE_LENGTH = 16;

    static final int KEY_LENGTH = Curve25519.KEY_LENGTH;
    static final int MAC_LENGTH = SecretBox.MAC_LENGTH;

    /** Version 1.0, with a byte for each number. */
    static final int VERSION = 0x0100;
    /** Length of the padding after the version of a HELLO, in bytes. */
    static final int PADDING = 72;
    /** Number of zero bytes in the box of a HELLO. */
    static final int SIGNATURE_LENGTH = 64;
    /** Length of a cookie, in bytes. */
    static final int COOKIE_LENGTH = 96;

    static final byte[] HELLO_NONCE = ascii("CurveZMQHELLO---");
    static final byte[] INITIATE_NONCE = ascii("CurveZMQINITIATE");
    static final byte[] READY_NONCE = ascii("CurveZMQREADY---");
    static final byte[] CLIENT_NONCE = ascii("CurveZMQMESSAGEC");
    static final byte[] SERVER_NONCE = ascii("CurveZMQMESSAGES");
    static final byte[] WELCOME_NONCE = ascii("WELCOME-");
    static final byte[] COOKIE_NONCE = ascii("COOKIE--");
    static final byte[] VOUCH_NONCE = ascii("VOUCH---");

    private CurveBoxes() {}

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Returns a nonce that ends with a short nonce. */
    static byte[] nonce(byte[] prefix, long shortNonce) {
        return ByteBuffer.allocate(SecretBox.NONCE_LENGTH)
                .put(prefix)
                .putLong(shortNonce)
                .array();
    }

    /** Returns a new long nonce. */
    static byte[] longNonce(byte[] prefix, SecureRandom random) {
        byte[] sent = new byte[LONG_NONCE_LENGTH];
        random.nextBytes(sent);
        return longNonce(prefix, sent);
    }

    /** Returns the long nonce whose part {@code sent} is on the wire. */
    static byte[] longNonce(byte[] prefix, byte[] sent) {
        return ByteBuffer.allocate(SecretBox.NONCE_LENGTH).put(prefix).put(sent).array();
    }

    /** Returns the part of a long nonce that is sent. */
    static byte[] sentPart(byte[] longNonce) {
        return Arrays.copyOfRange(longNonce, longNonce.length - LONG_NONCE_LENGTH, longNonce.length);
    }

    /** Returns a box of {@code plain}, which is not changed. */
    static byte[] seal(byte[] key, byte[] nonce, byte[] plain) {
        byte[] box = new byte[MAC_LENGTH + plain.length];
        System.arraycopy(plain, 0, box, MAC_LENGTH, plain.length);
        SecretBox boxes = new SecretBox(key, Arrays.copyOf(nonce, SecretBox.PREFIX_LENGTH));
        boxes.seal(shortNonce(nonce), Unpooled.wrappedBuffer(box), MAC_LENGTH, plain.length);
        boxes.wipe();
        return box;
    }

    /**
     * Returns the content of a box, which is not changed.
     *
     * @throws ZMTPException if the box was not sealed with this key and nonce; the message gives no detail
     */
    static byte[] open(String what, byte[] key, byte[] nonce, byte[] box) {
        SecretBox boxes = new SecretBox(key, Arrays.copyOf(nonce, SecretBox.PREFIX_LENGTH));
        byte[] copy = box.clone();
        try {
            if (!boxes.open(shortNonce(nonce), Unpooled.wrappedBuffer(copy), MAC_LENGTH, box.length - MAC_LENGTH)) {
                throw ZMTPException.malformed(what, "a box that does not open", "one for our key");
            }
            return Arrays.copyOfRange(copy, MAC_LENGTH, copy.length);
        } finally {
            boxes.wipe();
            wipe(copy);
        }
    }

    private static long shortNonce(byte[] nonce) {
        return ByteBuffer.wrap(nonce).getLong(SecretBox.PREFIX_LENGTH);
    }

    /**
     * Returns the body of a command, with {@code clear}, a short nonce, and a box of {@code first} and the local
     * metadata.
     *
     * @param prefix the start of the nonce, which is not sent
     */
    static ByteBuf command(
            Command command,
            ZMTPMechanism.Context context,
            byte[] clear,
            byte[] key,
            byte[] prefix,
            long shortNonce,
            byte[] first) {
        ZMTPMetadata local = context.localMetadata();
        int length = first.length + Metadata.length(local);
        ByteBuf body = command.body(context.alloc(), clear.length + SHORT_NONCE_LENGTH + MAC_LENGTH + length)
                .writeBytes(clear)
                .writeLong(shortNonce)
                .writeZero(MAC_LENGTH);
        int start = body.writerIndex();
        Metadata.write(body.writeBytes(first), local);
        SecretBox boxes = new SecretBox(key, prefix);
        boxes.seal(shortNonce, body, start, length);
        boxes.wipe();
        return body;
    }

    static byte[] concat(byte[]... parts) {
        ByteBuf all = Unpooled.wrappedBuffer(parts);
        return readBytes(all, all.readableBytes());
    }

    static byte[] readBytes(ByteBuf in, int length) {
        byte[] bytes = new byte[length];
        in.readBytes(bytes);
        return bytes;
    }

    static void checkLength(String what, int length, int expected) {
        if (length != expected) {
            throw ZMTPException.malformed(what + " length", length, String.valueOf(expected));
        }
    }

    static void checkAtLeast(String what, int length, int least) {
        if (length < least) {
            throw ZMTPException.malformed(what + " length", length, ">= " + least);
        }
    }

    static void wipe(byte @Nullable [] secret) {
        if (secret != null) {
            Arrays.fill(secret, (byte) 0);
        }
    }
}
