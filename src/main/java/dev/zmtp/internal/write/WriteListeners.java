package dev.zmtp.internal.write;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelPromise;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The listeners of the buffers that are passed to the transport. Each listener has the promises that wait for its
 * buffer, and the number of messages that end in it.
 *
 * <p>A result is therefore counted for its own buffer, regardless of the order of results. A handler before the codec
 * can fail a buffer while an earlier buffer waits, and Netty notifies a listener later if promises complete inside of
 * others.
 *
 * <p>Listeners of buffers without waiting promises are reused, so that nothing is allocated for them.
 */
final class WriteListeners {

    /** Number of cached listeners, by count of messages. The last index is for the most recent of the larger counts. */
    private static final int KEPT = 8;

    private final TransportWrites transport;
    private final ChannelFutureListener withoutPromise;
    private final @Nullable OfVoids[] ofVoids = new OfVoids[KEPT];

    WriteListeners(TransportWrites transport) {
        this.transport = transport;
        this.withoutPromise = write -> transport.completed(write, List.of(), false, 0);
    }

    /**
     * Returns the listener of a buffer of this many messages with a waiting promise. Without a promise, no message
     * ends.
     */
    ChannelFutureListener of(@Nullable ChannelPromise promise, int messages) {
        boolean isVoid = promise != null && promise.isVoid();
        return of(promise == null || isVoid ? null : List.of(promise), isVoid, messages);
    }

    /** Returns the listener of a buffer with these waiting promises, and void promises if {@code hasVoid}. */
    ChannelFutureListener of(@Nullable List<ChannelPromise> waiting, boolean hasVoid, int messages) {
        if (waiting == null) {
            return hasVoid ? ofVoids(messages) : withoutPromise; // without any promise, no message ends
        }
        // Not a single lambda that also keeps the flag, because each would be larger by eight bytes.
        return hasVoid
                ? write -> transport.completed(write, waiting, true, messages)
                : write -> transport.completed(write, waiting, false, messages);
    }

    private ChannelFutureListener ofVoids(int messages) {
        int index = Math.min(messages, KEPT - 1);
        OfVoids listener = ofVoids[index];
        if (listener == null || listener.messages != messages) {
            listener = new OfVoids(messages);
            ofVoids[index] = listener;
        }
        return listener;
    }

    /** Listens for any buffer in which this many messages end, all of them with void promises. */
    private final class OfVoids implements ChannelFutureListener {
        private final int messages;

        private OfVoids(int messages) {
            this.messages = messages;
        }

        @Override
        public void operationComplete(ChannelFuture write) {
            transport.completed(write, List.of(), true, messages);
        }
    }
}
