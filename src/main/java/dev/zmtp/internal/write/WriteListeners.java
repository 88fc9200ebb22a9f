package dev.zmtp.internal.write;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelPromise;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The listeners of the buffers that the transport gets. Each knows which promises wait for its buffer, and how many
 * messages end in it.
 *
 * <p>So a result is counted for its own buffer, in whatever order results come: a handler before the codec may fail one
 * buffer while an earlier one waits, and Netty notifies a listener later if promises complete inside of others.
 *
 * <p>Listeners of buffers that no promise waits for are used again, so that nothing is allocated for them.
 */
final class WriteListeners {

    /** Listeners for this many counts of messages are kept; the last index is for the last one of the larger counts. */
    private static final int KEPT = 8;

    private final TransportWrites transport;
    private final ChannelFutureListener withoutPromise;
    private final @Nullable OfVoids[] ofVoids = new OfVoids[KEPT];

    WriteListeners(TransportWrites transport) {
        this.transport = transport;
        this.withoutPromise = write -> transport.completed(write, List.of(), false, 0);
    }

    /**
     * Returns the listener of a buffer of this many messages that a promise waits for; or none, and no message ends.
     */
    ChannelFutureListener of(@Nullable ChannelPromise promise, int messages) {
        boolean isVoid = promise != null && promise.isVoid();
        return of(promise == null || isVoid ? null : List.of(promise), isVoid, messages);
    }

    /** Returns the listener of a buffer that these promises wait for, and void ones if {@code hasVoid}. */
    ChannelFutureListener of(@Nullable List<ChannelPromise> waiting, boolean hasVoid, int messages) {
        if (waiting == null) {
            return hasVoid ? ofVoids(messages) : withoutPromise; // without any promise, no message ends
        }
        // Not one lambda that keeps the flag too: each would be larger by eight bytes.
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
