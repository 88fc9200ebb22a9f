package dev.zmtp.security;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * CURVE public key of 32 bytes of Curve25519, written as 40 characters of Z85 (RFC 26 and 32). Immutable.
 *
 * <p>Two keys are equal if their bytes are.
 */
public final class ZMTPCurvePublicKey {

    private final byte[] bytes;

    private ZMTPCurvePublicKey(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * Returns the key of these 32 bytes, which are copied.
     *
     * @throws IllegalArgumentException if the length is not 32
     */
    public static ZMTPCurvePublicKey of(byte[] bytes) {
        if (bytes.length != Curve25519.KEY_LENGTH) {
            throw new IllegalArgumentException(
                    "public key length: " + bytes.length + " (expected: " + Curve25519.KEY_LENGTH + ")");
        }
        return new ZMTPCurvePublicKey(bytes.clone());
    }

    /**
     * Returns the key that this string encodes in Z85.
     *
     * @throws IllegalArgumentException if the string is not 40 characters of valid Z85
     */
    public static ZMTPCurvePublicKey of(String z85) {
        return new ZMTPCurvePublicKey(Z85.decode("public key", Z85.bytes(z85.toCharArray()), Curve25519.KEY_LENGTH));
    }

    /**
     * Reads the {@code public-key} of a file in the format of {@link #save}, which CZMQ, JeroMQ and pyzmq also write.
     *
     * @throws IOException if the file cannot be read, is longer than 64 KiB, or has no public key
     */
    public static ZMTPCurvePublicKey load(Path file) throws IOException {
        try (CurveFile content = CurveFile.read(file)) {
            return content.publicKey();
        }
    }

    /**
     * Writes the key to a new world-readable file.
     *
     * @throws java.nio.file.FileAlreadyExistsException if the file exists
     * @throws IOException if it cannot be written
     */
    public void save(Path file) throws IOException {
        CurveFile.write(file, this);
    }

    /** Returns a copy of the 32 bytes of the key. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** Returns the key in Z85. */
    public String z85() {
        return new String(Z85.encode(bytes), StandardCharsets.US_ASCII);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ZMTPCurvePublicKey that && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** Returns the key in Z85. */
    @Override
    public String toString() {
        return z85();
    }
}
