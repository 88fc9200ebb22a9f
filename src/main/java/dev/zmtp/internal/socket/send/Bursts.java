package dev.zmtp.internal.socket.send;

import dev.zmtp.internal.transport.QueueLimit;

/** The limit of messages on their way to the event loop where each peer has a queue. */
final class Bursts {

    /**
     * So many times what one queue may have, where no sender waits: a burst for fifty peers is not one for a single
     * queue.
     */
    private static final int QUEUES = 64;

    /** As {@link #QUEUES}, for bytes, but no more than a small part of the heap. */
    private static final int QUEUES_OF_BYTES = 4;

    private static final long MAX_BYTES = Runtime.getRuntime().maxMemory() / 16;

    private Bursts() {}

    /** Returns how much may be on its way where so much may wait in a queue. */
    static QueueLimit limit(QueueLimit ofQueue) {
        long bytes = Math.min(MAX_BYTES, saturated(QUEUES_OF_BYTES, ofQueue.bytes()));
        int messages = (int) Math.min(Integer.MAX_VALUE, saturated(QUEUES, ofQueue.messages()));
        return new QueueLimit(messages, Math.max(bytes, ofQueue.bytes()));
    }

    private static long saturated(int times, long limit) {
        return limit > Long.MAX_VALUE / times ? Long.MAX_VALUE : times * limit;
    }
}
