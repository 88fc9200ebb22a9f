package dev.zmtp.security;

import io.netty.buffer.ByteBuf;
import java.util.Arrays;
import java.util.Objects;
import org.bouncycastle.crypto.engines.Salsa20Engine;
import org.bouncycastle.crypto.macs.Poly1305;
import org.bouncycastle.crypto.params.KeyParameter;
import org.bouncycastle.util.Pack;

/** Salsa20 and Poly1305 of Bouncy Castle. */
final class BouncyCastleCipher implements BoxCipher {

    static final int ROUNDS = 20;
    static final int WORDS = 16;

    private static final int SCRATCH_LENGTH = 512;

    // Indices of the words in the state; the constants are on its diagonal.
    private static final int[] SIGMA_AT = {0, 5, 10, 15};
    private static final int[] SIGMA = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}; // "expand 32-byte k"
    private static final int[] KEY_AT = {1, 2, 3, 4, 11, 12, 13, 14};
    static final int NONCE_AT = 6;
    private static final int COUNTER_AT = 8;

    private final int[] state = new int[WORDS];
    private final int[] block = new int[WORDS];
    private final MacKey macKey = new MacKey(new byte[SecretBox.KEY_LENGTH]);
    private final byte[] scratch = new byte[SCRATCH_LENGTH];
    private final Poly1305 poly1305 = new Poly1305();

    /**
     * Key that is read in place. Bouncy Castle's own class copies it twice for each box and wipes no copy.
     * {@link PrimitivesChoice} checks that the library still calls this method.
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

    BouncyCastleCipher(byte[] derived) {
        setKey(state, derived);
        Arrays.fill(derived, (byte) 0);
    }

    static void setKey(int[] state, byte[] key) {
        for (int i = 0; i < SIGMA.length; i++) {
            state[SIGMA_AT[i]] = SIGMA[i];
        }
        for (int i = 0; i < KEY_AT.length; i++) {
            state[KEY_AT[i]] = Pack.littleEndianToInt(key, i * Integer.BYTES);
        }
    }

    @Override
    public void begin(long nonce) {
        state[NONCE_AT] = Integer.reverseBytes((int) (nonce >>> Integer.SIZE));
        state[NONCE_AT + 1] = Integer.reverseBytes((int) nonce);
        state[COUNTER_AT] = 0;
        state[COUNTER_AT + 1] = 0;
        Salsa20Engine.salsaCore(ROUNDS, state, block);
        Pack.intToLittleEndian(block, 0, SecretBox.KEY_LENGTH / Integer.BYTES, macKey.bytes, 0);
        poly1305.init(macKey);
    }

    @Override
    public void crypt(ByteBuf data, int index, int from, int to) {
        int done = from;
        if (from == 0) {
            done = Math.min(to, SecretBox.FIRST_LENGTH);
            cryptBlock(data, index, done, SecretBox.KEY_LENGTH / Integer.BYTES);
        }
        while (done < to) {
            state[COUNTER_AT]++; // a frame has at most 2^31 bytes: the upper word stays zero
            Salsa20Engine.salsaCore(ROUNDS, state, block);
            int now = Math.min(to - done, SecretBox.BLOCK_LENGTH);
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

    @Override
    public void authenticate(ByteBuf data, int index, int length) {
        if (data.hasArray()) {
            Objects.checkFromIndexSize(index, length, data.capacity()); // the array may be longer
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

    @Override
    public void mac(byte[] mac) {
        poly1305.doFinal(mac, 0);
    }

    @Override
    public void wipe() {
        Arrays.fill(state, 0);
        Arrays.fill(block, 0);
        Arrays.fill(macKey.bytes, (byte) 0);
        poly1305.init(macKey);
    }
}
