package dev.zmtp.security;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.security.auth.Destroyable;

/**
 * A long-term key pair of CURVE (RFC 26). Thread safe; share one among all channels.
 *
 * <p>Needs Bouncy Castle on the class path or module path: without it the methods that make a key pair throw an
 * {@link IllegalStateException} that says so.
 *
 * <p>The secret key is wiped by {@link #destroy}. Mechanisms that have not begun yet cannot begin then; those that are in
 * their handshake have a copy, which they wipe themselves.
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

    /** Returns a new key pair, from the platform's {@link SecureRandom}. May block: not for event loops. */
    public static ZMTPCurveKeyPair generate() {
        BouncyCastle.require();
        return ofSecretKey(Curve25519.generateSecretKey(RANDOM));
    }

    /**
     * Returns the key pair of this secret key, whose octets are copied. The public key follows from it.
     *
     * @throws IllegalArgumentException if they are not 32
     */
    public static ZMTPCurveKeyPair of(byte[] secretKey) {
        BouncyCastle.require();
        if (secretKey.length != Curve25519.KEY_LENGTH) {
            throw new IllegalArgumentException(
                    "secret key length: " + secretKey.length + " (expected: " + Curve25519.KEY_LENGTH + ")");
        }
        return ofSecretKey(secretKey.clone());
    }

    /**
     * Returns the key pair of the secret key that these characters are in Z85. They are not changed: wipe them.
     *
     * @throws IllegalArgumentException if they are not 40 characters of Z85; it does not repeat them
     */
    public static ZMTPCurveKeyPair of(char[] secretKeyZ85) {
        BouncyCastle.require();
        byte[] characters = Z85.octets(secretKeyZ85);
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
     * Reads a key pair from a file of the form that {@link #save} writes, and CZMQ, JeroMQ and pyzmq too: {@code public-key}
     * and {@code secret-key}, in Z85.
     *
     * @throws IOException if the file cannot be read, is longer than 64 KiB, holds no key pair, or can be read by everyone;
     *     it repeats nothing of its content
     */
    public static ZMTPCurveKeyPair load(Path file) throws IOException {
        BouncyCastle.require();
        try (CurveFile content = CurveFile.read(file)) {
            ZMTPCurveKeyPair pair = ofSecretKey(content.secretKey());
            boolean loaded = false;
            try {
                ZMTPCurvePublicKey said = content.publicKey();
                if (!pair.publicKey.equals(said)) {
                    throw new IOException(file + ": public-key " + said + " (expected: " + pair.publicKey
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
     * Writes this key pair to a new file that no one but its owner can read or write.
     *
     * @throws java.nio.file.FileAlreadyExistsException if there is one of that name: keys are not written over
     * @throws IOException if it cannot be written, or its file system cannot keep others from reading it
     * @throws IllegalStateException if the key pair was destroyed
     */
    public void save(Path file) throws IOException {
        byte[] octets = secretKey();
        try {
            CurveFile.write(file, publicKey, octets);
        } finally {
            Arrays.fill(octets, (byte) 0);
        }
    }

    /** The public key, for those who connect. */
    public ZMTPCurvePublicKey publicKey() {
        return publicKey;
    }

    /**
     * The secret key, a copy: the caller's to wipe.
     *
     * @throws IllegalStateException if it was destroyed
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

    /** Shows the public key only. */
    @Override
    public String toString() {
        return "ZMTPCurveKeyPair{publicKey=" + publicKey + "}";
    }
}
