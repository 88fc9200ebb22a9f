package dev.zmtp.security;

import io.netty.buffer.ByteBuf;
import java.security.MessageDigest;
import java.util.Arrays;

/**
 * NaCl's secretbox (XSalsa20 and Poly1305) under a single key, in place in a buffer.
 *
 * <pre>
 *   box = mac:16  ciphertext
 * </pre>
 *
 * <p>XSalsa20 derives a key from its key and the first 16 bytes of the 24-byte nonce. In CurveZMQ these 16 bytes are
 * the same for all frames of a direction, so the derivation is done once, in this class. The other 8 bytes come with
 * each box. Not thread safe.
 */
final class SecretBox {

    /** Length of a key, in bytes. */
    static final int KEY_LENGTH = 32;
    /** Length of the MAC, which precedes the ciphertext, in bytes. */
    static final int MAC_LENGTH = 16;
    /** Length of a nonce, in bytes. */
    static final int NONCE_LENGTH = 24;
    /** Length of the part of the nonce from which the key is derived, in bytes. */
    static final int PREFIX_LENGTH = 16;
    /** Length of a Salsa20 block, in bytes. */
    static final int BLOCK_LENGTH = 64;
    /** Number of bytes of the first block that encrypt. The other bytes are the key of the MAC. */
    static final int FIRST_LENGTH = BLOCK_LENGTH - KEY_LENGTH;

    private final BoxCipher cipher;
    private final byte[] mac = new byte[MAC_LENGTH];
    private final byte[] theirs = new byte[MAC_LENGTH];
    private boolean wiped;

    /** Nonce of the box that is being opened. */
    private long nonce;

    /** Number of opened bytes of that box. */
    private int opened;

    /** Creates boxes under {@code key} with nonces that start with {@code prefix}. Keeps neither array. */
    SecretBox(byte[] key, byte[] prefix) {
        this(PrimitivesChoice.primitives(), key, prefix);
    }

    /** Like {@link #SecretBox(byte[], byte[])}, with these primitives. */
    SecretBox(CurvePrimitives primitives, byte[] key, byte[] prefix) {
        cipher = primitives.cipher(primitives.derive(key, prefix));
    }

    /**
     * Seals {@code length} bytes at {@code index} in place, and writes the MAC to the 16 bytes before them.
     *
     * @param nonce the last eight bytes of the nonce, different for each box
     */
    void seal(long nonce, ByteBuf data, int index, int length) {
        checkUsable();
        try {
            cipher.begin(nonce, data, index, length);
            cipher.crypt(data, index, 0, length);
            cipher.authenticate(data, index, length);
            cipher.mac(mac);
        } finally {
            cipher.end();
        }
        data.setBytes(index - MAC_LENGTH, mac);
    }

    /** Opens the box with this nonce, by calling {@link #begin} and {@link #open(ByteBuf, int, int)}. */
    boolean open(long nonce, ByteBuf data, int index, int length) {
        begin(nonce);
        return open(data, index, length);
    }

    /** Begins to open the box with this nonce. */
    void begin(long nonce) {
        checkUsable();
        this.nonce = nonce;
        opened = 0;
    }

    /**
     * Opens {@code length} bytes at {@code index} in place. The MAC is in the 16 bytes before them. Returns false if
     * the box was not sealed under this key and nonce. The data is then unchanged, unless {@link #openPart} has changed
     * it.
     */
    boolean open(ByteBuf data, int index, int length) {
        checkUsable();
        try {
            if (opened == 0) {
                cipher.begin(nonce, data, index, length);
            } else {
                cipher.resume();
            }
            cipher.authenticate(data, index + opened, length - opened);
            cipher.mac(mac);
            data.getBytes(index - MAC_LENGTH, theirs);
            if (!MessageDigest.isEqual(mac, theirs)) {
                return false;
            }
            cipher.crypt(data, index, opened, length);
            return true;
        } finally {
            cipher.end();
        }
    }

    /** Opens all unopened full blocks of the first {@code length} bytes at {@code index}. */
    void openPart(ByteBuf data, int index, int length) {
        checkUsable();
        int blocks =
                (length + KEY_LENGTH) / BLOCK_LENGTH * BLOCK_LENGTH - KEY_LENGTH; // the first one has the MAC's key
        if (blocks > opened) {
            if (opened == 0) {
                cipher.begin(nonce);
            } else {
                cipher.resume();
            }
            try {
                cipher.authenticate(data, index + opened, blocks - opened);
                cipher.crypt(data, index, opened, blocks);
                opened = blocks;
            } finally {
                cipher.pause();
            }
        }
    }

    private void checkUsable() {
        if (wiped) {
            throw new IllegalStateException("key: wiped (expected: in use)");
        }
    }

    /** Wipes the key. Nothing can be sealed or opened afterwards. */
    void wipe() {
        wiped = true;
        cipher.wipe();
        Arrays.fill(mac, (byte) 0);
    }
}
