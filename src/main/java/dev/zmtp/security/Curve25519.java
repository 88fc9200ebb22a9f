package dev.zmtp.security;

import dev.zmtp.ZMTPException;
import java.security.SecureRandom;
import java.util.Arrays;

/** X25519 (RFC 7748), and the key of NaCl's boxes derived from it. Too slow for event loops. */
final class Curve25519 {

    /** Length of a secret or a public key, in bytes. */
    static final int KEY_LENGTH = 32;

    private static final byte[] ZEROS = new byte[SecretBox.PREFIX_LENGTH];

    private Curve25519() {}

    /** Returns a new secret key. */
    static byte[] generateSecretKey(SecureRandom random) {
        byte[] secretKey = new byte[KEY_LENGTH];
        random.nextBytes(secretKey); // X25519 itself clears and sets the bits that RFC 7748 fixes
        return secretKey;
    }

    /** Returns the public key of {@code secretKey}. */
    static byte[] publicKey(byte[] secretKey) {
        return PrimitivesChoice.primitives().publicKey(secretKey);
    }

    /**
     * Returns the key of the boxes between the owners of these two keys, which is HSalsa20 of X25519.
     *
     * @throws ZMTPException if {@code theirs} is of low order, in which case the result would not be secret
     */
    static byte[] sharedKey(byte[] ourSecretKey, byte[] theirs) {
        CurvePrimitives primitives = PrimitivesChoice.primitives();
        byte[] agreed = new byte[KEY_LENGTH];
        try {
            if (!primitives.agree(ourSecretKey, theirs, agreed)) {
                throw ZMTPException.malformed("CURVE public key", "of low order", "one of the curve's large group");
            }
            return primitives.derive(agreed, ZEROS);
        } finally {
            Arrays.fill(agreed, (byte) 0);
        }
    }
}
