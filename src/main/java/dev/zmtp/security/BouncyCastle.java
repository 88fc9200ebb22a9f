package dev.zmtp.security;

import java.util.Arrays;
import java.util.HexFormat;

/** Checks that Bouncy Castle, an optional dependency, is there and computes what CURVE needs. */
final class BouncyCastle {

    /** The box that NaCl makes of 33 zeros, with a key and a nonce of zeros. */
    private static final byte[] BOX = HexFormat.of()
            .parseHex("0d6681dced740667c699f0ac71bfd1bd"
                    + "c63ebbfffe85ce2cebdef7dc42f494576d05bdd7b929ebb045f2a793f740277d05");

    /** The public key of a secret key of zeros. */
    private static final byte[] PUBLIC_KEY =
            HexFormat.of().parseHex("2fe57da347cd62431528daac5fbb290730fff684afc4cfc2ed90995f58cb3b74");

    private static final boolean USABLE = isUsable();

    private BouncyCastle() {}

    /** Tests the version that is there: an old one may lack a method, a later one may use a key in another way. */
    private static boolean isUsable() {
        byte[] key = new byte[SecretBox.KEY_LENGTH];
        try {
            byte[] box =
                    CurveBoxes.seal(key, new byte[SecretBox.NONCE_LENGTH], new byte[BOX.length - SecretBox.MAC_LENGTH]);
            return Arrays.equals(box, BOX) && Arrays.equals(Curve25519.publicKey(key), PUBLIC_KEY);
        } catch (LinkageError e) {
            return false;
        }
    }

    /**
     * Returns if Bouncy Castle can be used.
     *
     * @throws IllegalStateException if it is missing or does not compute what CURVE needs
     */
    static void require() {
        if (!USABLE) {
            throw new IllegalStateException(
                    "CURVE: no usable Bouncy Castle (expected: org.bouncycastle:bcprov-jdk18on among the dependencies,"
                            + " as a module org.bouncycastle.provider)");
        }
    }
}
