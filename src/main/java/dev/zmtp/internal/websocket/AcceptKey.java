package dev.zmtp.internal.websocket;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/** The key of a request and the key that answers it (RFC 6455, section 4.2.2). */
final class AcceptKey {

    private static final String SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    private static final int LENGTH = 16;

    private AcceptKey() {}

    /** Returns a new key for a request. It is no secret, and only has to be another for each. */
    static String newKey() {
        ByteBuffer key = ByteBuffer.allocate(LENGTH);
        while (key.hasRemaining()) {
            key.putInt(MaskingKeys.next()); // from ThreadLocalRandom, a peer could compute what else that has returned
        }
        return Base64.getEncoder().encodeToString(key.array());
    }

    /** Returns whether the key of a request consists of 16 bytes. */
    static boolean isKey(String key) {
        try {
            return Base64.getDecoder().decode(key).length == LENGTH;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** Returns the answer to the key of a request. */
    static String answer(String key) {
        try {
            MessageDigest sha1 = MessageDigest.getInstance("SHA-1");
            return Base64.getEncoder().encodeToString(sha1.digest((key + SUFFIX).getBytes(StandardCharsets.US_ASCII)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // each Java platform has it
        }
    }
}
