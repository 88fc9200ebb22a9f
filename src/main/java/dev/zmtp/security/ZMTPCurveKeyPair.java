package dev.zmtp.security;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.security.auth.Destroyable;

/**
 * Long-term CURVE key pair (RFC 26). Thread safe, and can be shared by all channels.
 *
 * <p>Needs Bouncy Castle or libsodium, like {@link ZMTPCurve}. Without them the static methods throw an
 * {@link IllegalStateException}.
 *
 * <p>{@link #destroy} wipes the secret key. New connections then fail. A handshake that has begun uses a copy, and
 * wipes it at its end.
 */
public final class ZMTPCurveKeyPair implements Destroyable {

    private static final SecureRandom RANDOM = new SecureRandom();

    private final ZMTPCurvePublicKey publicKey;
    private final byte[] secretKey;
    private boolean destroyed;

    private ZMTPCurveKeyPair(ZMTPCurvePublicKey publicKey, byte[] secretKey) {
        this.publicKey = publicKey;
        this.secretKey = secretKey;
    }

    /**
     * Returns a new key pair from the platform's {@link SecureRandom}, which can block. Do not call this method on an
     * event loop.
     */
    public static ZMTPCurveKeyPair generate() {
        PrimitivesChoice.require();
        return ofSecretKey(Curve25519.generateSecretKey(RANDOM));
    }

    /**
     * Returns the key pair of this secret key of 32 bytes, which are copied. The public key is computed.
     *
     * @throws IllegalArgumentException if the length is not 32
     */
    public static ZMTPCurveKeyPair fromSecretKey(byte[] secretKey) {
        PrimitivesChoice.require();
        if (secretKey.length != Curve25519.KEY_LENGTH) {
            throw new IllegalArgumentException(
                    "secret key length: " + secretKey.length + " (expected: " + Curve25519.KEY_LENGTH + ")");
        }
        return ofSecretKey(secretKey.clone());
    }

    /**
     * Returns the key pair of the secret key that these characters encode in Z85. The array is not changed, and should
     * be wiped by the caller.
     *
     * @throws IllegalArgumentException if the characters are not 40 characters of valid Z85; the message does not
     *     contain them
     */
    public static ZMTPCurveKeyPair fromSecretKey(char[] secretKeyZ85) {
        PrimitivesChoice.require();
        byte[] characters = Z85.bytes(secretKeyZ85);
        try {
            return ofSecretKey(Z85.decode("secret key", characters, Curve25519.KEY_LENGTH));
        } finally {
            Arrays.fill(characters, (byte) 0);
        }
    }

    private static ZMTPCurveKeyPair ofSecretKey(byte[] secretKey) {
        return new ZMTPCurveKeyPair(ZMTPCurvePublicKey.of(Curve25519.publicKey(secretKey)), secretKey);
    }

    /**
     * Reads a key pair from a file in the format of {@link #save}, with {@code public-key} and {@code secret-key} in
     * Z85. CZMQ, JeroMQ and pyzmq also write this format.
     *
     * <p>A world-readable file is refused. pyzmq writes such files, so run {@code chmod 600} on them.
     *
     * @throws IOException if the file cannot be read, is longer than 64 KiB, has no key pair, or is world-readable; the
     *     message contains no secret
     */
    public static ZMTPCurveKeyPair load(Path file) throws IOException {
        PrimitivesChoice.require();
        try (CurveFile content = CurveFile.read(file)) {
            ZMTPCurveKeyPair pair = ofSecretKey(content.secretKey());
            boolean loaded = false;
            try {
                ZMTPCurvePublicKey stored = content.publicKey();
                if (!pair.publicKey.equals(stored)) {
                    throw new IOException(file + ": public-key " + stored + " (expected: " + pair.publicKey
                            + ", which follows from its secret-key)");
                }
                loaded = true;
                return pair;
            } finally {
                if (!loaded) {
                    pair.destroy();
                }
            }
        }
    }

    /**
     * Writes this key pair to a new file that only its owner can read and write.
     *
     * @throws java.nio.file.FileAlreadyExistsException if the file exists, because a key is never overwritten
     * @throws IOException if the file cannot be written, or its file system has no POSIX permissions
     * @throws IllegalStateException if the key pair was destroyed
     */
    public void save(Path file) throws IOException {
        byte[] secret = secretKey();
        try {
            CurveFile.write(file, publicKey, secret);
        } finally {
            Arrays.fill(secret, (byte) 0);
        }
    }

    /** Returns the public key, for the peers. */
    public ZMTPCurvePublicKey publicKey() {
        return publicKey;
    }

    /**
     * Returns a copy of the secret key, to be wiped by the caller.
     *
     * @throws IllegalStateException if the key pair was destroyed
     */
    public synchronized byte[] secretKey() {
        if (destroyed) {
            throw new IllegalStateException("key pair: destroyed (expected: in use)");
        }
        return secretKey.clone();
    }

    /** Wipes the secret key. */
    @Override
    public synchronized void destroy() {
        destroyed = true;
        Arrays.fill(secretKey, (byte) 0);
    }

    @Override
    public synchronized boolean isDestroyed() {
        return destroyed;
    }

    /** Returns the public key only, as text. */
    @Override
    public String toString() {
        return "ZMTPCurveKeyPair{publicKey=" + publicKey + "}";
    }
}
