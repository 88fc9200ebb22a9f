package dev.zmtp.mechanism;

/** Says early, and clearly, that the optional library of primitives is missing. */
final class BouncyCastle {

    private static final boolean PRESENT = isPresent();

    private BouncyCastle() {}

    private static boolean isPresent() {
        try {
            return Curve25519.publicKey(new byte[Curve25519.KEY_LENGTH]).length == Curve25519.KEY_LENGTH;
        } catch (NoClassDefFoundError e) {
            return false;
        }
    }

    /**
     * Returns if there are primitives.
     *
     * @throws IllegalStateException if there are none
     */
    static void require() {
        if (!PRESENT) {
            throw new IllegalStateException(
                    "CURVE: no Bouncy Castle (expected: org.bouncycastle:bcprov-jdk18on among the"
                            + " dependencies, as a module org.bouncycastle.provider)");
        }
    }
}
