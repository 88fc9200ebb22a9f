package dev.zmtp.internal.connection;

import dev.zmtp.ZMTPMessage;

/** The memory that is counted for an object in addition to the bytes that the peer sent for it. */
public final class Overhead {

    /** For a frame or a held write, the approximate size of its objects. */
    public static final int PER_FRAME = 64;

    /**
     * For a topic or a group, at least the memory that this library and a publisher's {@link dev.zmtp.ZMTPTopicMatcher}
     * use for it when a peer chooses its topics to maximize the memory of each. Decision 014 has the figures.
     */
    public static final int PER_TOPIC = 256;

    private Overhead() {}

    /** Returns the bytes of a message plus the overhead of its frames. */
    public static long sizeOf(ZMTPMessage message) {
        return message.readableBytes() + (long) PER_FRAME * message.size();
    }
}
