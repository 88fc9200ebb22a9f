package dev.zmtp.security;

import java.util.Arrays;
import org.bouncycastle.crypto.engines.Salsa20Engine;
import org.bouncycastle.math.ec.rfc7748.X25519;
import org.bouncycastle.util.Pack;

/** Primitives of Bouncy Castle, an optional dependency. */
final class BouncyCastle implements CurvePrimitives {

    /** Indices of the words of the state that form the key. */
    private static final int[] DERIVED_AT = {0, 5, 10, 15, 6, 7, 8, 9};

    @Override
    public byte[] publicKey(byte[] secretKey) {
        byte[] publicKey = new byte[Curve25519.KEY_LENGTH];
        X25519.generatePublicKey(secretKey, 0, publicKey, 0);
        return publicKey;
    }

    @Override
    public boolean agree(byte[] secretKey, byte[] publicKey, byte[] agreed) {
        return X25519.calculateAgreement(secretKey, 0, publicKey, 0, agreed, 0);
    }

    @Override
    public byte[] derive(byte[] key, byte[] prefix) {
        int[] in = new int[BouncyCastleCipher.WORDS];
        BouncyCastleCipher.setKey(in, key);
        Pack.littleEndianToInt(prefix, 0, in, BouncyCastleCipher.NONCE_AT, SecretBox.PREFIX_LENGTH / Integer.BYTES);
        int[] out = new int[BouncyCastleCipher.WORDS];
        Salsa20Engine.salsaCore(BouncyCastleCipher.ROUNDS, in, out);
        byte[] derived = new byte[SecretBox.KEY_LENGTH];
        for (int i = 0; i < DERIVED_AT.length; i++) {
            int at = DERIVED_AT[i];
            // The core has added the input, which HSalsa20 does not.
            Pack.intToLittleEndian(out[at] - in[at], derived, i * Integer.BYTES);
        }
        Arrays.fill(in, 0);
        Arrays.fill(out, 0);
        return derived;
    }

    @Override
    public BoxCipher cipher(byte[] derived) {
        return new BouncyCastleCipher(derived);
    }

    @Override
    public String toString() {
        return "Bouncy Castle";
    }
}
