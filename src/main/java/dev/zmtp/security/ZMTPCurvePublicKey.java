package dev.zmtp.security;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A public key of CURVE: 32 octets of Curve25519, written as 40 characters of Z85 (RFC 26 and 32). Immutable; no secret.
 *
 * <p>Two are equal if their octets are.
 */
public final class ZMTPCurvePublicKey {

    /** Octets of a key. */
    public static final int LENGTH = 32;

    private final byte[] octets;

    private ZMTPCurvePublicKey(byte[] octets) {
        this.octets = octets;
    }

    /**
     * Returns the key of these octets, which are copied.
     *
     * @throws IllegalArgumentException if they are not 32
     */
    public static ZMTPCurvePublicKey of(byte[] octets) {
        if (octets.length != LENGTH) {
            throw new IllegalArgumentException("public key length: " + octets.length + " (expected: " + LENGTH + ")");
        }
        return new ZMTPCurvePublicKey(octets.clone());
    }

    /**
     * Returns the key that these characters are in Z85.
     *
     * @throws IllegalArgumentException if they are not 40, or not all of Z85, or no 32-bit numbers in fives
     */
    public static ZMTPCurvePublicKey of(String z85) {
        return new ZMTPCurvePublicKey(Z85.decode("public key", Z85.octets(z85.toCharArray()), LENGTH));
    }

    /**
     * Reads the {@code public-key} of a file of the form that {@link #save} writes, and CZMQ, JeroMQ and pyzmq too.
     *
     * @throws IOException if the file cannot be read, is longer than 64 KiB, or holds no public key
     */
    public static ZMTPCurvePublicKey load(Path file) throws IOException {
        try (CurveFile content = CurveFile.read(file)) {
            return content.publicKey();
        }
    }

    /**
     * Writes the key to a new file, which may be given to anyone.
     *
     * @throws java.nio.file.FileAlreadyExistsException if there is one of that name
     * @throws IOException if it cannot be written
     */
    public void save(Path file) throws IOException {
        CurveFile.write(file, this);
    }

    /** The octets, a copy. */
    public byte[] octets() {
        return octets.clone();
    }

    /** The key in Z85. */
    public String z85() {
        return new String(Z85.encode(octets), StandardCharsets.US_ASCII);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ZMTPCurvePublicKey that && Arrays.equals(octets, that.octets);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(octets);
    }

    /** The key in Z85. */
    @Override
    public String toString() {
        return z85();
    }
}
