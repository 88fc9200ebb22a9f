package dev.zmtp.security;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.FastThreadLocal;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.nio.ByteBuffer;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * Native memory for the keys and results of libsodium. Each use ends with {@link #wipe}, so the memory is empty between
 * two uses. No connection has native memory.
 *
 * <p>Each thread of Netty has its own memory, which is freed after the thread has ended. All other threads share a
 * pool, which grows to the maximum number in use at the same time. Each handshake can have a virtual thread, and
 * separate memory for each thread would wait for the collector.
 *
 * <pre>
 *   key:32 nonce:8 mac:16 unused:8  block:64  state of Poly1305:256  chunk:4096
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
    static final int SECRETS_LENGTH = STATE_AT + STATE_LENGTH;

    private static final int CHUNK_AT = SECRETS_LENGTH;
    private static final int CHUNK_LENGTH = 4096;
    private static final int LENGTH = CHUNK_AT + CHUNK_LENGTH;

    /** Alignment that libsodium requires for a Poly1305 state, and the size of a processor cache line. */
    private static final int ALIGNMENT = 64;

    private static final byte[] ZEROS = new byte[LENGTH];

    private static final FastThreadLocal<LibsodiumMemory> OF_THREAD = new FastThreadLocal<>() {
        @Override
        protected LibsodiumMemory initialValue() {
            return new LibsodiumMemory(false);
        }
    };

    /** Shared memory that is not in use. */
    private static final Deque<LibsodiumMemory> IDLE = new ConcurrentLinkedDeque<>();

    private final boolean shared;
    private final ByteBuffer memory =
            ByteBuffer.allocateDirect(LENGTH + ALIGNMENT).alignedSlice(ALIGNMENT);
    private final ByteBuffer chunk = memory.slice(CHUNK_AT, CHUNK_LENGTH);
    private final long start = NativeLibrary.address(memory);

    /** Number of bytes at the start that can require wiping. */
    private int used = SECRETS_LENGTH;

    private LibsodiumMemory(boolean shared) {
        this.shared = shared;
    }

    /** Returns memory for this thread, until {@link #wipe}. */
    static LibsodiumMemory take() {
        if (Thread.currentThread() instanceof FastThreadLocalThread) {
            return OF_THREAD.get();
        }
        LibsodiumMemory idle = IDLE.poll();
        return idle == null ? new LibsodiumMemory(true) : idle;
    }

    /** X25519 with the base point. */
    byte[] publicKey(byte[] secretKey) {
        byte[] publicKey = new byte[Curve25519.KEY_LENGTH];
        memory.put(KEY_AT, secretKey, 0, Curve25519.KEY_LENGTH);
        LibsodiumFunctions.multiplyBase(start + BLOCK_AT, start + KEY_AT);
        memory.get(BLOCK_AT, publicKey);
        wipe();
        return publicKey;
    }

    /** X25519, which returns false if {@code publicKey} is of low order. */
    boolean agree(byte[] secretKey, byte[] publicKey, byte[] agreed) {
        memory.put(KEY_AT, secretKey, 0, Curve25519.KEY_LENGTH);
        memory.put(STATE_AT, publicKey, 0, Curve25519.KEY_LENGTH);
        int result = LibsodiumFunctions.multiply(start + BLOCK_AT, start + KEY_AT, start + STATE_AT);
        memory.get(BLOCK_AT, agreed);
        wipe();
        return result == 0;
    }

    /** HSalsa20. */
    byte[] derive(byte[] key, byte[] prefix) {
        byte[] derived = new byte[SecretBox.KEY_LENGTH];
        memory.put(KEY_AT, key, 0, SecretBox.KEY_LENGTH);
        memory.put(STATE_AT, prefix, 0, SecretBox.PREFIX_LENGTH);
        LibsodiumFunctions.derive(start + BLOCK_AT, start + STATE_AT, start + KEY_AT);
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
        LibsodiumFunctions.crypt(start + BLOCK_AT, SecretBox.BLOCK_LENGTH, start + NONCE_AT, 0, start + KEY_AT);
        LibsodiumFunctions.poly1305Init(start + STATE_AT, start + BLOCK_AT);
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
            for (; done < to; done += chunk.limit()) {
                fillChunk(data, index + done, to - done);
                crypt(start + CHUNK_AT, chunk.limit(), done);
                data.setBytes(index + done, chunk.rewind());
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
        LibsodiumFunctions.crypt(address, length, start + NONCE_AT, block, start + KEY_AT);
    }

    /** Like {@link BoxCipher#authenticate}. */
    void authenticate(ByteBuf data, int index, int length) {
        if (data.hasMemoryAddress()) {
            LibsodiumFunctions.poly1305Update(start + STATE_AT, address(data, index, length), length);
        } else {
            for (int done = 0; done < length; done += chunk.limit()) {
                fillChunk(data, index + done, length - done);
                LibsodiumFunctions.poly1305Update(start + STATE_AT, start + CHUNK_AT, chunk.limit());
            }
        }
    }

    /** Copies as many bytes as fit into the chunk. */
    private void fillChunk(ByteBuf data, int index, int length) {
        chunk.clear().limit(Math.min(length, CHUNK_LENGTH));
        used = Math.max(used, CHUNK_AT + chunk.limit());
        data.getBytes(index, chunk);
    }

    /** Like {@link BoxCipher#mac}. */
    void mac(byte[] mac) {
        LibsodiumFunctions.poly1305Final(start + STATE_AT, start + MAC_AT);
        memory.get(MAC_AT, mac);
    }

    /** Wipes all used memory, which the thread must not use afterwards. */
    void wipe() {
        memory.put(0, ZEROS, 0, used);
        used = SECRETS_LENGTH;
        if (shared) {
            IDLE.push(this);
        }
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
