package dev.zmtp.security;

/** The functions that CURVE computes with, by one library. Thread safe. */
interface CurvePrimitives {

    /** X25519 (RFC 7748) with the base point: the public key of {@code secretKey}. */
    byte[] publicKey(byte[] secretKey);

    /**
     * X25519 (RFC 7748): writes what the owners of the two keys have in common to {@code agreed}.
     *
     * @return false if {@code publicKey} is of low order: then {@code agreed} is no secret
     */
    boolean agree(byte[] secretKey, byte[] publicKey, byte[] agreed);

    /** HSalsa20: derives a key from a key and 16 bytes. */
    byte[] derive(byte[] key, byte[] prefix);

    /** Salsa20 and Poly1305 under a key from {@link #derive}. The array is the cipher's, which wipes it. */
    BoxCipher cipher(byte[] derived);

    /** The name of the library, for the log. */
    @Override
    String toString();
}
