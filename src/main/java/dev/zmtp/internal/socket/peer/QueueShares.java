package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.socket.context.SocketContext;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/**
 * Measures messages again that wait in the queues of several peers. Each peer has a share of their memory, which grows when
 * others get the message: the last one that has it keeps all of it. On the event loop.
 */
final class QueueShares {

    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final SocketContext context;

    /** Queues with messages that were queued for several peers, each once. */
    private final Queue<SendQueue> queues = new ArrayDeque<>(0);

    private boolean scheduled;

    QueueShares(SocketContext context) {
        this.context = context;
    }

    /** Called after the message was added to the queue, when its caller still has a reference. */
    void added(SendQueue queue, ZMTPMessage message) {
        if (message.refCnt() > 2 && !queue.isWatched()) {
            queue.watched(true);
            queues.add(queue);
            measureLater();
        }
    }

    private void measureLater() {
        if (!scheduled && !queues.isEmpty()) {
            scheduled = true;
            context.schedule(() -> measure(queues.size()), INTERVAL_NANOS);
        }
    }

    /** Measures the first {@code left} queues, in several tasks if there are many messages. */
    private void measure(int left) {
        int later = left;
        long measured = 0;
        try {
            while (later > 0 && measured < LoopBudget.MESSAGES) {
                later--;
                measured += 1 + measureNext();
            }
        } finally {
            goOn(later);
        }
    }

    /** Returns how many messages were measured. */
    private long measureNext() {
        SendQueue queue = queues.remove();
        long messages = queue.messages();
        queue.watched(false);
        if (queue.measureAgain() && !queue.isWatched()) { // it can end a peer, and its sender can send again
            queue.watched(true);
            queues.add(queue);
        }
        return messages;
    }

    private void goOn(int left) {
        if (left > 0) {
            context.executeAfterReads(() -> measure(left));
        } else {
            scheduled = false;
            measureLater();
        }
    }
}
