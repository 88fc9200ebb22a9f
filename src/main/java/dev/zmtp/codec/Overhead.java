package dev.zmtp.codec;

/** What a frame, a topic or a held write counts for besides its bytes: about what it costs to keep. */
final class Overhead {

    static final int BYTES = 64;

    private Overhead() {}
}
