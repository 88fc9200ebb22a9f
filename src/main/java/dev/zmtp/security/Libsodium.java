package dev.zmtp.security;

/** Primitives of libsodium, a native library. */
final class Libsodium implements CurvePrimitives {

    private final String version;

    /**
     * Prepares the library.
     *
     * @throws UnsatisfiedLinkError if the library is missing or cannot be called, with the reason
     */
    Libsodium() {
        if (LibsodiumFunctions.init() < 0) {
            throw new UnsatisfiedLinkError("sodium_init: failed (expected: success)");
        }
        long length = LibsodiumFunctions.poly1305Length();
        if (length > LibsodiumMemory.STATE_LENGTH) {
            throw new UnsatisfiedLinkError("crypto_onetimeauth_poly1305_statebytes: " + length + " (expected: <= "
                    + LibsodiumMemory.STATE_LENGTH + ")");
        }
        version = LibsodiumFunctions.version();
    }

    @Override
    public byte[] publicKey(byte[] secretKey) {
        return LibsodiumMemory.take().publicKey(secretKey);
    }

    @Override
    public boolean agree(byte[] secretKey, byte[] publicKey, byte[] agreed) {
        return LibsodiumMemory.take().agree(secretKey, publicKey, agreed);
    }

    @Override
    public byte[] derive(byte[] key, byte[] prefix) {
        return LibsodiumMemory.take().derive(key, prefix);
    }

    @Override
    public BoxCipher cipher(byte[] derived) {
        return new LibsodiumCipher(derived);
    }

    @Override
    public String toString() {
        return "libsodium " + version;
    }
}
