package dev.zmtp.codec;

/** What a frame, a topic or a held write is charged on top of its bytes: roughly its memory overhead. */
final class Overhead {

    static final int BYTES = 64;

    private Overhead() {}
}
