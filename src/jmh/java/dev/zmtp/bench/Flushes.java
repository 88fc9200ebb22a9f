package dev.zmtp.bench;

import dev.zmtp.codec.BatchFlusher;
import io.netty.channel.Channel;

/** Flushes a channel by a policy: the caller reports each write and the end of each read. */
final class Flushes {

    /** How many writes make a batch. */
    static final int BATCH = 128;

    private static final int MAX_PENDING = 64;

    private final FlushPolicy policy;
    private final Channel channel;
    private final BatchFlusher flusher;
    private int unflushed;

    Flushes(FlushPolicy policy, Channel channel) {
        this.policy = policy;
        this.channel = channel;
        this.flusher = new BatchFlusher(channel, MAX_PENDING);
    }

    /** To be called after each write. */
    void written() {
        switch (policy) {
            case BATCH -> {
                if (++unflushed == BATCH) {
                    unflushed = 0;
                    channel.flush();
                }
            }
            case MESSAGE -> channel.flush();
            case READ -> {} // its end is near
            case FLUSHER, FLUSHER_OUTSIDE -> flusher.flush();
        }
    }

    /** To be called at the end of each read. */
    void readComplete() {
        if (policy == FlushPolicy.READ) {
            channel.flush();
        }
    }
}
