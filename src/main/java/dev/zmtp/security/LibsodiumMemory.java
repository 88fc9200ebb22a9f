package dev.zmtp.security;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Native memory for the keys and results of libsodium. Each use ends with {@link #wipe}, so the memory is empty between
 * two uses. No connection has native memory.
 *
 * <p>A short box takes two calls. Its text has 32 zeros before it, so a single call computes the key of the MAC and
 * encrypts or decrypts the entire text, from {@code in} to {@code out}. A call through JNA takes as long as an entire
 * block of Salsa20, and longer than copies of such short texts. A longer box remains in its buffer, if the buffer has
 * an address.
 *
 * <pre>
 *   key:32 nonce:8 mac:16 unused:8  block:64  state of Poly1305:256
 *   in = zeros:32 text:2048 unused:32
 *   out = key:32 text:2048 unused:32
 * </pre>
 */
final class LibsodiumMemory {

    /** Length of the Poly1305 state, in bytes. */
    static final int STATE_LENGTH = 256;

    private static final int KEY_AT = 0;
    private static final int NONCE_AT = KEY_AT + SecretBox.KEY_LENGTH;
    private static final int MAC_AT = NONCE_AT + Long.BYTES;
    private static final int BLOCK_AT = 64;
    private static final int STATE_AT = BLOCK_AT + SecretBox.BLOCK_LENGTH;
    /** Number of bytes at the start that hold keys and values computed from them. */
    private static final int SECRETS_LENGTH = STATE_AT + STATE_LENGTH;

    /** Maximum length of a text. With longer texts, the copies would take longer than the calls that they replace. */
    private static final int TEXT_LENGTH = 32 * SecretBox.BLOCK_LENGTH;

    /**
     * Number of bytes that libsodium computes at once on this processor. With vector instructions, four blocks take
     * little more time than a single block.
     */
    private static final int PIECE_LENGTH =
            List.of("amd64", "x86_64").contains(System.getProperty("os.arch")) ? 4 * SecretBox.BLOCK_LENGTH : 1;

    private static final int IN_AT = SECRETS_LENGTH;
    private static final int IN_TEXT_AT = IN_AT + SecretBox.KEY_LENGTH;
    private static final int OUT_AT = IN_TEXT_AT + TEXT_LENGTH + SecretBox.KEY_LENGTH;
    private static final int OUT_TEXT_AT = OUT_AT + SecretBox.KEY_LENGTH;
    /** A multiple of {@link #ALIGNMENT}, because an aligned slice also ends at an aligned address. */
    private static final int LENGTH = OUT_TEXT_AT + TEXT_LENGTH + SecretBox.KEY_LENGTH;

    /** Alignment that libsodium requires for a Poly1305 state, and the size of a processor cache line. */
    private static final int ALIGNMENT = 64;

    private static final byte[] ZEROS = new byte[SecretBox.KEY_LENGTH + TEXT_LENGTH];

    private final LibsodiumFunctions functions;
    private final Consumer<LibsodiumMemory> end;
    private final ByteBuffer memory =
            ByteBuffer.allocateDirect(LENGTH + ALIGNMENT).alignedSlice(ALIGNMENT);
    private final ByteBuffer in = memory.slice(IN_TEXT_AT, TEXT_LENGTH);
    private final ByteBuffer out = memory.slice(OUT_TEXT_AT, TEXT_LENGTH);
    private final long start;

    /** Number of bytes of text that can require wiping. */
    private int used;

    /** Number of bytes that were computed for a short box, including the key of its MAC, or 0. */
    private int computed;

    /** True if the short box is being sealed. Its MAC is then computed from the output. */
    private boolean isSealed;

    /**
     * Creates memory.
     *
     * @param end receives this memory at the end of each use
     */
    LibsodiumMemory(LibsodiumFunctions functions, Consumer<LibsodiumMemory> end) {
        this.functions = functions;
        this.end = end;
        start = functions.address(memory);
    }

    /** X25519 with the base point. */
    byte[] publicKey(byte[] secretKey) {
        byte[] publicKey = new byte[Curve25519.KEY_LENGTH];
        memory.put(KEY_AT, secretKey, 0, Curve25519.KEY_LENGTH);
        functions.multiplyBase(start + BLOCK_AT, start + KEY_AT);
        memory.get(BLOCK_AT, publicKey);
        wipe();
        return publicKey;
    }

    /** X25519, which returns false if {@code publicKey} is of low order. */
    boolean agree(byte[] secretKey, byte[] publicKey, byte[] agreed) {
        memory.put(KEY_AT, secretKey, 0, Curve25519.KEY_LENGTH);
        memory.put(STATE_AT, publicKey, 0, Curve25519.KEY_LENGTH);
        int result = functions.multiply(start + BLOCK_AT, start + KEY_AT, start + STATE_AT);
        memory.get(BLOCK_AT, agreed);
        wipe();
        return result == 0;
    }

    /** HSalsa20. */
    byte[] derive(byte[] key, byte[] prefix) {
        byte[] derived = new byte[SecretBox.KEY_LENGTH];
        memory.put(KEY_AT, key, 0, SecretBox.KEY_LENGTH);
        memory.put(STATE_AT, prefix, 0, SecretBox.PREFIX_LENGTH);
        functions.derive(start + BLOCK_AT, start + STATE_AT, start + KEY_AT);
        memory.get(BLOCK_AT, derived);
        wipe();
        return derived;
    }

    /**
     * Creates the first block of a box. Its first half is the key of the MAC, and its second half encrypts the first
     * bytes.
     */
    void begin(byte[] key, long nonce) {
        memory.put(KEY_AT, key, 0, SecretBox.KEY_LENGTH);
        memory.putLong(NONCE_AT, nonce);
        memory.put(BLOCK_AT, ZEROS, 0, SecretBox.BLOCK_LENGTH);
        functions.crypt(
                start + BLOCK_AT, start + BLOCK_AT, SecretBox.BLOCK_LENGTH, start + NONCE_AT, 0, start + KEY_AT);
        functions.poly1305Init(start + STATE_AT, start + BLOCK_AT);
    }

    /** Returns whether a box of this length is short. */
    static boolean isShort(int length) {
        return length <= TEXT_LENGTH;
    }

    /** Begins a short box, and encrypts or decrypts it in this memory. {@link #crypt} copies the result. */
    void beginShort(byte[] key, long nonce, ByteBuf data, int index, int length) {
        used = length;
        memory.put(KEY_AT, key, 0, SecretBox.KEY_LENGTH);
        memory.putLong(NONCE_AT, nonce);
        data.getBytes(index, in.clear().limit(length));
        computed = roundedUp(SecretBox.KEY_LENGTH + length);
        functions.crypt(start + OUT_AT, start + IN_AT, computed, start + NONCE_AT, 0, start + KEY_AT);
    }

    /**
     * Returns the number of bytes to compute. After the last entire piece, libsodium computes block by block, and
     * another piece is faster than two blocks.
     */
    private static int roundedUp(int length) {
        int rest = length % PIECE_LENGTH;
        return rest > SecretBox.BLOCK_LENGTH ? length - rest + PIECE_LENGTH : length;
    }

    /** Resumes a box whose first block is complete. */
    void resume(byte[] key, long nonce, byte[] state) {
        memory.put(KEY_AT, key, 0, SecretBox.KEY_LENGTH);
        memory.putLong(NONCE_AT, nonce);
        memory.put(STATE_AT, state);
    }

    /** Copies the state for {@link #resume} to {@code state}. */
    void saveState(byte[] state) {
        memory.get(STATE_AT, state);
    }

    /** Like {@link BoxCipher#crypt}. */
    void crypt(ByteBuf data, int index, int from, int to) {
        if (computed > 0) {
            data.setBytes(index + from, out.limit(to).position(from));
            isSealed = true;
            return;
        }
        int done = from;
        if (from == 0) {
            done = Math.min(to, SecretBox.FIRST_LENGTH);
            cryptFirst(data, index, done);
        }
        if (done == to) {
            return;
        }
        if (data.hasMemoryAddress() && !data.isReadOnly()) {
            crypt(address(data, index + done, to - done), to - done, done);
        } else {
            for (; done < to; done += in.limit()) {
                take(data, index + done, to - done);
                crypt(start + IN_TEXT_AT, in.limit(), done);
                data.setBytes(index + done, in.rewind());
            }
        }
    }

    /** Uses the rest of the first block. */
    private void cryptFirst(ByteBuf data, int index, int length) {
        int at = index;
        int key = BLOCK_AT + SecretBox.KEY_LENGTH;
        int end = index + length;
        for (; end - at >= Long.BYTES; at += Long.BYTES, key += Long.BYTES) {
            data.setLong(at, data.getLong(at) ^ memory.getLong(key));
        }
        for (; at < end; at++, key++) {
            data.setByte(at, data.getByte(at) ^ memory.get(key));
        }
    }

    private void crypt(long address, int length, int done) {
        long block = ((long) done + SecretBox.KEY_LENGTH) / SecretBox.BLOCK_LENGTH;
        functions.crypt(address, address, length, start + NONCE_AT, block, start + KEY_AT);
    }

    /** Like {@link BoxCipher#authenticate}. */
    void authenticate(ByteBuf data, int index, int length) {
        if (computed > 0) {
            int text = isSealed ? OUT_TEXT_AT : IN_TEXT_AT;
            functions.poly1305(start + MAC_AT, start + text, length, start + OUT_AT);
        } else if (data.hasMemoryAddress()) {
            functions.poly1305Update(start + STATE_AT, address(data, index, length), length);
        } else {
            for (int done = 0; done < length; done += in.limit()) {
                take(data, index + done, length - done);
                functions.poly1305Update(start + STATE_AT, start + IN_TEXT_AT, in.limit());
            }
        }
    }

    /** Copies as many bytes as fit. */
    private void take(ByteBuf data, int index, int length) {
        in.clear().limit(Math.min(length, TEXT_LENGTH));
        used = Math.max(used, in.limit());
        data.getBytes(index, in);
    }

    /** Like {@link BoxCipher#mac}. */
    void mac(byte[] mac) {
        if (computed == 0) {
            functions.poly1305Final(start + STATE_AT, start + MAC_AT);
        }
        memory.get(MAC_AT, mac);
    }

    /** Wipes all used memory, which the thread must not use afterwards. */
    void wipe() {
        memory.put(0, ZEROS, 0, computed > 0 ? BLOCK_AT : SECRETS_LENGTH);
        memory.put(IN_TEXT_AT, ZEROS, 0, used);
        memory.put(OUT_AT, ZEROS, 0, computed);
        used = 0;
        computed = 0;
        isSealed = false;
        end.accept(this);
    }

    /** Returns the content, for a test. */
    ByteBuffer content() {
        return memory.asReadOnlyBuffer();
    }

    /** Returns the address of bytes after checking that they are within the buffer and that it was not released. */
    private static long address(ByteBuf data, int index, int length) {
        Objects.checkFromIndexSize(index, length, data.capacity());
        return data.memoryAddress() + index; // throws if it was
    }
}
