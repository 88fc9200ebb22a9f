package dev.zmtp.internal.connection;

import dev.zmtp.ZMTPMessage;

/** The memory that is counted for an object on top of the bytes that the peer has sent for it. */
public final class Overhead {

    /** For a frame or a held write: roughly its objects. */
    public static final int PER_FRAME = 64;

    /**
     * For a topic or a group: no less than what we and a publisher's {@link dev.zmtp.ZMTPTopicMatcher} keep for one, if
     * a peer chooses its topics so that each of them takes most. Decision 014 has the figures.
     */
    public static final int PER_TOPIC = 256;

    private Overhead() {}

    /** The bytes of a message plus the overhead of its frames. */
    public static long sizeOf(ZMTPMessage message) {
        return message.readableBytes() + (long) PER_FRAME * message.size();
    }
}
