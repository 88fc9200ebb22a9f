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
     * Masks or unmasks {@code length} bytes that begin at {@code from}, and moves them to {@code to}, which is at most
     * {@code from}. Moves no index of the buffer.
     *
     * @param key the key, whose first byte belongs to the byte at {@code from}
     */
    static void apply(ByteBuf buffer, int from, int to, int length, int key) {
        if (length > 0 && buffer.nioBufferCount() == 1) {
            // Each access of a ByteBuf checks its references, which would take longer than the mask.
            apply(buffer.internalNioBuffer(to, from - to + length), from - to, length, key);
            return;
        }
        for (int i = 0; i < length; i++) {
            buffer.setByte(to + i, buffer.getByte(from + i) ^ byteOf(key, i));
        }
    }

    /**
     * Masks {@code length} bytes that begin {@code distance} bytes after the position, and moves them to the
     * position.
     */
    private static void apply(ByteBuffer buffer, int distance, int length, int key) {
        long twice = (long) key << Integer.SIZE | Integer.toUnsignedLong(key);
        int to = buffer.position();
        int end = to + length;
        for (; to <= end - Long.BYTES; to += Long.BYTES) {
            buffer.putLong(to, buffer.getLong(to + distance) ^ twice);
        }
        if (to <= end - Integer.BYTES) {
            buffer.putInt(to, buffer.getInt(to + distance) ^ key);
            to += Integer.BYTES;
        }
        for (int rest = key; to < end; to++) {
            rest = Integer.rotateLeft(rest, Byte.SIZE);
            buffer.put(to, (byte) (buffer.get(to + distance) ^ rest));
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
