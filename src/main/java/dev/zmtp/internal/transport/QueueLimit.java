package dev.zmtp.internal.transport;

/**
 * The limits of a queue. Both apply. A message larger than {@code bytes} still passes through an empty queue, so a
 * queue has at most {@code bytes} and one message.
 *
 * @param messages maximum number of messages, at least 1
 * @param bytes maximum number of bytes in all their frames, at least 1
 */
public record QueueLimit(int messages, long bytes) {

    /** Default of sockets, with the same number of messages as libzmq. */
    public static final QueueLimit DEFAULT = new QueueLimit(1_000, 16L << 20);

    /** Checks both limits. */
    public QueueLimit {
        if (messages < 1) {
            throw new IllegalArgumentException("messages: " + messages + " (expected: >= 1)");
        }
        if (bytes < 1) {
            throw new IllegalArgumentException("bytes: " + bytes + " (expected: >= 1)");
        }
    }

    /** Returns a quarter of each limit, at least 1. Threads that wait for room continue when as much is free. */
    public QueueLimit quarter() {
        return new QueueLimit(Math.max(1, messages / 4), Math.max(1, bytes / 4));
    }
}
