package dev.zmtp.internal.websocket;

import io.netty.buffer.ByteBuf;

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
        long twice = Long.reverseBytes((long) key << Integer.SIZE | Integer.toUnsignedLong(key));
        int done = 0;
        for (int end = length - Long.BYTES; done <= end; done += Long.BYTES) {
            // Little endian, because most processors need not swap bytes for it.
            buffer.setLongLE(to + done, buffer.getLongLE(from + done) ^ twice);
        }
        for (; done < length; done++) {
            buffer.setByte(to + done, buffer.getByte(from + done) ^ byteOf(key, done));
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
