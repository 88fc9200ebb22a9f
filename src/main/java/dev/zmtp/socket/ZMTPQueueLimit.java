package dev.zmtp.socket;

/**
 * The bounds of the queue of one peer. Both apply. A message larger than {@code bytes} still passes
 * through an empty queue, so a queue has at most {@code bytes} and one message.
 *
 * @param messages the greatest number of messages, at least 1
 * @param bytes the greatest number of bytes in all their frames, at least 1
 */
public record ZMTPQueueLimit(int messages, long bytes) {

    /** 1,000 messages, as with libzmq, and 16 MiB. */
    public static final ZMTPQueueLimit DEFAULT = new ZMTPQueueLimit(1_000, 16L << 20);

    /** Checks both bounds. */
    public ZMTPQueueLimit {
        if (messages < 1) {
            throw new IllegalArgumentException("messages: " + messages + " (expected: >= 1)");
        }
        if (bytes < 1) {
            throw new IllegalArgumentException("bytes: " + bytes + " (expected: >= 1)");
        }
    }

    /** Returns a limit of {@code messages} and the default of 16 MiB. */
    public static ZMTPQueueLimit ofMessages(int messages) {
        return new ZMTPQueueLimit(messages, DEFAULT.bytes);
    }
}
