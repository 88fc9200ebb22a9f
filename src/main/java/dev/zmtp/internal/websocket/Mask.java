package dev.zmtp.internal.websocket;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;

/**
 * The mask of a payload, each byte of which is combined with a byte of the key in turn (RFC 6455, section 5.3). The
 * same operation sets and removes a mask.
 *
 * <p>The first byte of a key is in its highest bits.
 */
final class Mask {

    private static final int KEY_LENGTH = 4;

    private Mask() {}

    /**
     * Masks or unmasks the bytes of a buffer that only the caller uses. Moves no index of the buffer.
     *
     * @param key the key, whose first byte belongs to the byte at {@code index}
     */
    static void apply(ByteBuf buffer, int index, int length, int key) {
        // Each access of a ByteBuf checks its references, which would take longer than the mask.
        ByteBuffer bytes = buffer.internalNioBuffer(index, length);
        apply(bytes, bytes.position(), bytes.position(), length, key);
    }

    /**
     * Masks or unmasks {@code length} bytes that begin at {@code from}, and moves them to {@code to}, which is at most
     * {@code from}. Moves no index of the buffer, which is big endian.
     */
    static void apply(ByteBuffer bytes, int from, int to, int length, int key) {
        long twice = (long) key << Integer.SIZE | Integer.toUnsignedLong(key);
        int distance = from - to;
        int next = to;
        int end = to + length;
        for (; next <= end - Long.BYTES; next += Long.BYTES) {
            bytes.putLong(next, bytes.getLong(next + distance) ^ twice);
        }
        if (next <= end - Integer.BYTES) {
            bytes.putInt(next, bytes.getInt(next + distance) ^ key);
            next += Integer.BYTES;
        }
        for (int rest = key; next < end; next++) {
            rest = Integer.rotateLeft(rest, Byte.SIZE);
            bytes.put(next, (byte) (bytes.get(next + distance) ^ rest));
        }
    }

    /** Masks or unmasks all of these bytes. */
    static void apply(byte[] bytes, int key) {
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] ^= (byte) byteOf(key, i);
        }
    }

    /** Returns the byte of the key that belongs to the byte of a payload at {@code index}. */
    static int byteOf(int key, int index) {
        return Integer.rotateLeft(key, Byte.SIZE * (index % KEY_LENGTH + 1)) & 0xff;
    }

    /** Returns the key of the rest of a payload after {@code bytes} bytes. */
    static int after(int bytes, int key) {
        return Integer.rotateLeft(key, Byte.SIZE * (bytes % KEY_LENGTH));
    }
}
