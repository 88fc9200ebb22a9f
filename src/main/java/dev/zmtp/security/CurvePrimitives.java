package dev.zmtp.security;

/** Functions that CURVE computes with, provided by a library. Thread safe. */
interface CurvePrimitives {

    /** X25519 (RFC 7748) with the base point, which returns the public key of {@code secretKey}. */
    byte[] publicKey(byte[] secretKey);

    /**
     * X25519 (RFC 7748), which writes the shared secret of the owners of the two keys to {@code agreed}.
     *
     * @return false if {@code publicKey} is of low order, in which case {@code agreed} is not secret
     */
    boolean agree(byte[] secretKey, byte[] publicKey, byte[] agreed);

    /** HSalsa20, which derives a key from a key and 16 bytes. */
    byte[] derive(byte[] key, byte[] prefix);

    /** Returns Salsa20 and Poly1305 under a key from {@link #derive}. The cipher takes over the array and wipes it. */
    BoxCipher cipher(byte[] derived);

    /** Returns the name of the library, for the log. */
    @Override
    String toString();
}
