package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.ConsistentDeque;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.socket.context.SocketContext;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/**
 * Measures messages again that wait in the queues of several peers. Each peer has a share of their memory, which grows
 * when others get the message: the last peer that waits for it keeps all of it. On the event loop.
 */
final class QueueShares {

    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final SocketContext context;

    /** The peers for which messages wait that were queued for several peers, each once. */
    private final Queue<Outbound> outbounds = new ConsistentDeque<>();

    private boolean scheduled;

    QueueShares(SocketContext context) {
        this.context = context;
    }

    /** Called after the message was queued, when its caller still has a reference. */
    void queued(Outbound outbound, ZMTPMessage message) {
        if (message.refCnt() > 2 && !outbound.queue().isWatched()) {
            add(outbound);
            measureLater();
        }
    }

    private void add(Outbound outbound) {
        outbounds.add(outbound);
        outbound.queue().watched(true); // only now, because there might be no memory for it
    }

    private void measureLater() {
        if (!scheduled && !outbounds.isEmpty()) {
            context.schedule(() -> measure(outbounds.size()), INTERVAL_NANOS);
            scheduled = true; // only now, because there might be no memory for the timer
        }
    }

    /** Measures the messages for the first {@code left} peers, in several tasks if there are many messages. */
    private void measure(int left) {
        int later = left;
        long messages = 0;
        try {
            while (later > 0 && messages < LoopBudget.MESSAGES) {
                later--;
                messages += 1 + measureNext();
            }
        } finally {
            goOn(later);
        }
    }

    /** Returns the number of messages. */
    private long measureNext() {
        Outbound next = outbounds.remove();
        long messages = next.queue().messages();
        next.queue().watched(false);
        if (messages > 0) {
            add(next); // first, because more memory can end a peer, whose sender can send again
            next.measureAgain();
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
