package dev.zmtp.compare.peer;

import io.netty.buffer.ByteBuf;

/** The frames of a message in arrays, for {@link LeastHandlers}. It can be written as often as one likes. */
final class LeastMessage {

    private static final int MAX_FRAMES = 8;
    private static final int MAX_LENGTH = 255;

    private final byte[][] bodies = new byte[MAX_FRAMES][MAX_LENGTH];
    private final int[] lengths = new int[MAX_FRAMES];
    private int size;

    /** Takes {@code frames} over. */
    static LeastMessage of(ByteBuf... frames) {
        LeastMessage message = new LeastMessage();
        for (ByteBuf frame : frames) {
            message.add(frame, frame.readerIndex(), frame.readableBytes());
            frame.release();
        }
        return message;
    }

    void clear() {
        size = 0;
    }

    void add(ByteBuf in, int index, int length) {
        in.getBytes(index, bodies[size], 0, length);
        lengths[size++] = length;
    }

    int size() {
        return size;
    }

    byte[] body(int i) {
        return bodies[i];
    }

    int length(int i) {
        return lengths[i];
    }
}
