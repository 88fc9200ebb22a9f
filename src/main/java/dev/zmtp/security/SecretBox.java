package dev.zmtp.security;

import io.netty.buffer.ByteBuf;
import java.security.MessageDigest;
import java.util.Arrays;
import org.bouncycastle.crypto.engines.Salsa20Engine;
import org.bouncycastle.crypto.macs.Poly1305;
import org.bouncycastle.crypto.params.KeyParameter;
import org.bouncycastle.util.Pack;

/**
 * NaCl's secretbox under one key, in place in a buffer: XSalsa20 and Poly1305.
 *
 * <pre>
 *   box = mac:16  ciphertext
 * </pre>
 *
 * <p>XSalsa20 derives a key from its key and the first 16 bytes of the 24-byte nonce. In CurveZMQ these 16 bytes are
 * the same for all frames of one direction, so the derivation is done once, here. The other 8 bytes come with each box.
 * Not thread safe.
 */
final class SecretBox {

    /** Bytes of a key. */
    static final int KEY_LENGTH = 32;
    /** Bytes of the MAC, which comes before the ciphertext. */
    static final int MAC_LENGTH = 16;
    /** Bytes of a nonce. */
    static final int NONCE_LENGTH = 24;
    /** Bytes of the nonce from which the key is derived. */
    static final int PREFIX_LENGTH = 16;

    private static final int ROUNDS = 20;
    private static final int WORDS = 16;
    private static final int BLOCK_LENGTH = 64;
    private static final int SCRATCH_LENGTH = 512;

    // Indices of the words in the state; the constants are on its diagonal.
    private static final int[] SIGMA_AT = {0, 5, 10, 15};
    private static final int[] SIGMA = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}; // "expand 32-byte k"
    private static final int[] KEY_AT = {1, 2, 3, 4, 11, 12, 13, 14};
    private static final int NONCE_AT = 6;
    private static final int COUNTER_AT = 8;
    private static final int[] DERIVED_AT = {0, 5, 10, 15, 6, 7, 8, 9};

    private final int[] state = new int[WORDS];
    private final int[] block = new int[WORDS];
    private final MacKey macKey = new MacKey(new byte[KEY_LENGTH]);
    private final byte[] mac = new byte[MAC_LENGTH];
    private final byte[] theirs = new byte[MAC_LENGTH];
    private final byte[] scratch = new byte[SCRATCH_LENGTH];
    private final Poly1305 poly1305 = new Poly1305();
    private boolean wiped;

    /** How many bytes of the box that is being opened are open. */
    private int opened;

    /**
     * A key that is read in place. Bouncy Castle's own class copies it twice for each box and wipes no copy.
     * {@link BouncyCastle} checks that the library still calls this method.
     */
    private static final class MacKey extends KeyParameter {
        private final byte[] bytes;

        MacKey(byte[] bytes) {
            super(bytes);
            this.bytes = bytes;
        }

        @Override
        public byte[] getKey() {
            return bytes;
        }
    }

    /** Boxes under {@code key} with nonces that start with {@code prefix}. Keeps neither array. */
    SecretBox(byte[] key, byte[] prefix) {
        byte[] derived = derive(key, prefix);
        setKey(state, derived);
        Arrays.fill(derived, (byte) 0);
    }

    /** HSalsa20: derives a key from a key and 16 bytes. */
    static byte[] derive(byte[] key, byte[] prefix) {
        int[] in = new int[WORDS];
        setKey(in, key);
        Pack.littleEndianToInt(prefix, 0, in, NONCE_AT, PREFIX_LENGTH / Integer.BYTES);
        int[] out = new int[WORDS];
        Salsa20Engine.salsaCore(ROUNDS, in, out);
        byte[] derived = new byte[KEY_LENGTH];
        for (int i = 0; i < DERIVED_AT.length; i++) {
            int at = DERIVED_AT[i];
            Pack.intToLittleEndian(
                    out[at] - in[at],
                    derived,
                    i * Integer.BYTES); // the core has added the input, which HSalsa20 does not
        }
        Arrays.fill(in, 0);
        Arrays.fill(out, 0);
        return derived;
    }

    private static void setKey(int[] state, byte[] key) {
        for (int i = 0; i < SIGMA.length; i++) {
            state[SIGMA_AT[i]] = SIGMA[i];
        }
        for (int i = 0; i < KEY_AT.length; i++) {
            state[KEY_AT[i]] = Pack.littleEndianToInt(key, i * Integer.BYTES);
        }
    }

    /**
     * Seals {@code length} bytes at {@code index} in place, and writes the MAC to the 16 bytes before them.
     *
     * @param nonce the last eight bytes of the nonce, different for each box
     */
    void seal(long nonce, ByteBuf data, int index, int length) {
        begin(nonce);
        crypt(data, index, 0, length);
        authenticate(data, index, length);
        poly1305.doFinal(mac, 0);
        data.setBytes(index - MAC_LENGTH, mac);
    }

    /** Opens the box with this nonce: calls {@link #begin} and {@link #open(ByteBuf, int, int)}. */
    boolean open(long nonce, ByteBuf data, int index, int length) {
        begin(nonce);
        return open(data, index, length);
    }

    /**
     * Opens {@code length} bytes at {@code index} in place. The MAC is in the 16 bytes before them. Returns false if
     * the box was not sealed under this key and nonce; it has changed nothing then, unless {@link #openPart} has.
     */
    boolean open(ByteBuf data, int index, int length) {
        checkUsable();
        authenticate(data, index + opened, length - opened);
        poly1305.doFinal(mac, 0);
        data.getBytes(index - MAC_LENGTH, theirs);
        if (!MessageDigest.isEqual(mac, theirs)) {
            return false;
        }
        crypt(data, index, opened, length);
        return true;
    }

    /** Opens, of the first {@code length} bytes at {@code index}, all that fill a block and are not open yet. */
    void openPart(ByteBuf data, int index, int length) {
        int blocks =
                (length + KEY_LENGTH) / BLOCK_LENGTH * BLOCK_LENGTH - KEY_LENGTH; // the first one has the MAC's key
        checkUsable();
        if (blocks > opened) {
            authenticate(data, index + opened, blocks - opened);
            crypt(data, index, opened, blocks);
            opened = blocks;
        }
    }

    /**
     * Begins a box with this nonce. Makes the first block: one half is the key of the MAC, the other encrypts the first
     * bytes.
     */
    void begin(long nonce) {
        checkUsable();
        opened = 0;
        state[NONCE_AT] = Integer.reverseBytes((int) (nonce >>> Integer.SIZE));
        state[NONCE_AT + 1] = Integer.reverseBytes((int) nonce);
        state[COUNTER_AT] = 0;
        state[COUNTER_AT + 1] = 0;
        Salsa20Engine.salsaCore(ROUNDS, state, block);
        Pack.intToLittleEndian(block, 0, KEY_LENGTH / Integer.BYTES, macKey.bytes, 0);
        poly1305.init(macKey);
    }

    /** Encrypts or decrypts the bytes of a box from {@code from} to {@code to}. A block begins at {@code from}. */
    private void crypt(ByteBuf data, int index, int from, int to) {
        int done = from;
        if (from == 0) {
            done = Math.min(to, BLOCK_LENGTH - KEY_LENGTH);
            cryptBlock(data, index, done, KEY_LENGTH / Integer.BYTES);
        }
        while (done < to) {
            state[COUNTER_AT]++; // a frame has at most 2^31 bytes: the upper word stays zero
            Salsa20Engine.salsaCore(ROUNDS, state, block);
            int now = Math.min(to - done, BLOCK_LENGTH);
            cryptBlock(data, index + done, now, 0);
            done += now;
        }
    }

    private void cryptBlock(ByteBuf data, int index, int length, int firstWord) {
        int word = firstWord;
        int at = index;
        int end = index + length;
        for (; end - at >= Long.BYTES; at += Long.BYTES, word += 2) {
            data.setLongLE(at, data.getLongLE(at) ^ key(word));
        }
        if (at < end) {
            long rest = end - at > Integer.BYTES ? key(word) : block[word];
            for (; at < end; at++, rest >>>= Byte.SIZE) {
                data.setByte(at, data.getByte(at) ^ (int) rest);
            }
        }
    }

    private long key(int word) {
        return Integer.toUnsignedLong(block[word]) | (long) block[word + 1] << Integer.SIZE;
    }

    private void checkUsable() {
        if (wiped) {
            throw new IllegalStateException("key: wiped (expected: in use)");
        }
    }

    private void authenticate(ByteBuf data, int index, int length) {
        if (data.hasArray()) {
            poly1305.update(data.array(), data.arrayOffset() + index, length);
        } else {
            for (int done = 0; done < length; ) {
                int now = Math.min(length - done, SCRATCH_LENGTH);
                data.getBytes(index + done, scratch, 0, now);
                poly1305.update(scratch, 0, now);
                done += now;
            }
        }
    }

    /** Wipes the key. Nothing can be sealed or opened after that. */
    void wipe() {
        wiped = true;
        Arrays.fill(state, 0);
        Arrays.fill(block, 0);
        Arrays.fill(macKey.bytes, (byte) 0);
        Arrays.fill(mac, (byte) 0);
        poly1305.init(macKey);
    }
}
