package dev.zmtp.internal.capture;

import java.io.IOException;

/** Memory of the messages of which a reader has seen the beginning, on all connections of a recording. */
final class UnfinishedBytes {

    /** Maximum number of bytes. A message that takes more is not recorded. */
    static final long MAX = 24L << 20;

    /** Memory of a frame beside its bytes. A recorder counts more for each. */
    private static final int FRAME = 48;

    private long used;

    /** Takes memory for a frame without its bytes. */
    void takeFrame() throws IOException {
        take(FRAME);
    }

    /** Takes memory for bytes of a frame before they are allocated. */
    void take(int length) throws IOException {
        used += length;
        if (used > MAX) {
            throw new IOException("unfinished messages: " + used + " bytes (expected: <= " + MAX + ")");
        }
    }

    /** Returns the memory of frames that were taken. */
    void giveBack(int frames, long bytes) {
        used -= (long) FRAME * frames + bytes;
    }
}
