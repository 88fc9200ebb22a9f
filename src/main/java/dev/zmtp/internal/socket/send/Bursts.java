package dev.zmtp.internal.socket.send;

import dev.zmtp.internal.transport.QueueLimit;

/** The limit of messages on their way to the event loop if each peer has a queue. */
final class Bursts {

    /**
     * Factor of the limit of a single queue if senders do not wait, because a burst for fifty peers is larger than a
     * burst for a single queue.
     */
    private static final int QUEUES = 64;

    /** Like {@link #QUEUES}, for bytes, but limited to a small part of the heap. */
    private static final int QUEUES_OF_BYTES = 4;

    private static final long MAX_BYTES = Runtime.getRuntime().maxMemory() / 16;

    private Bursts() {}

    /** Returns the limit of messages on their way for this limit of a queue. */
    static QueueLimit limit(QueueLimit ofQueue) {
        long bytes = Math.min(MAX_BYTES, saturated(QUEUES_OF_BYTES, ofQueue.bytes()));
        int messages = (int) Math.min(Integer.MAX_VALUE, saturated(QUEUES, ofQueue.messages()));
        return new QueueLimit(messages, Math.max(bytes, ofQueue.bytes()));
    }

    private static long saturated(int times, long limit) {
        return limit > Long.MAX_VALUE / times ? Long.MAX_VALUE : times * limit;
    }
}
