package dev.zmtp.internal.websocket;

import dev.zmtp.internal.runtime.ConsistentDeque;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPromise;
import java.nio.channels.ClosedChannelException;
import java.util.Queue;

/**
 * Writes after the end. They fail when the codec knows that the channel is closed. If they failed earlier, it would
 * report that as the reason for the end, and drop the messages that it has not decoded yet.
 */
final class LateWrites {

    /** Maximum number of writes. */
    private static final int MAX = 1_024;

    private final Queue<ChannelPromise> promises = new ConsistentDeque<>();

    /** Returns false if there are too many. Otherwise takes ownership of {@code bytes}, which are not sent. */
    boolean add(ByteBuf bytes, ChannelPromise promise) {
        if (promises.size() == MAX) {
            return false;
        }
        bytes.release();
        return promises.add(promise);
    }

    /** Fails all writes. */
    void fail() {
        for (ChannelPromise next = promises.poll(); next != null; next = promises.poll()) {
            next.tryFailure(new ClosedChannelException());
        }
    }
}
