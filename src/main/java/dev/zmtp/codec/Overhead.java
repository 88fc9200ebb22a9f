package dev.zmtp.codec;

/** The memory that is counted for an object on top of the bytes that the peer has sent for it. */
final class Overhead {

    /** For a frame or a held write: roughly its objects. */
    static final int PER_FRAME = 64;

    /**
     * For a topic or a group: no less than what we and a publisher's {@link dev.zmtp.ZMTPTopicMatcher} keep for one, if
     * a peer chooses its topics so that each of them takes most. Decision 014 has the figures.
     */
    static final int PER_TOPIC = 256;

    private Overhead() {}
}
