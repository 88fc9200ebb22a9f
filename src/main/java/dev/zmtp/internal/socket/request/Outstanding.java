package dev.zmtp.internal.socket.request;

import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.send.Writability;
import java.util.concurrent.atomic.AtomicInteger;

/** The number of requests that have not ended, which has a maximum. Used by any thread. */
final class Outstanding {

    private final SocketContext context;
    private final Writability writability;
    private final int max;
    private final AtomicInteger count = new AtomicInteger();

    /** True if a request was one too many, and none has ended since then. */
    private volatile boolean endIsAwaited;

    Outstanding(SocketContext context, Writability writability) {
        this.context = context;
        this.writability = writability;
        this.max = context.config().maxOutstandingRequests();
    }

    int max() {
        return max;
    }

    int get() {
        return count.get();
    }

    /**
     * Counts a request. Returns false if it is one too many. The listeners for room are then called after another has
     * ended.
     */
    boolean enter() {
        if (count.incrementAndGet() <= max) {
            return true;
        }
        writability.missedRequest(this::hasRoomOrIsAwaited);
        return false;
    }

    /** Called when the refused sender is noted. So either the next request to end sees it, or this sees the end. */
    private boolean hasRoomOrIsAwaited() {
        endIsAwaited = true; // first
        return count.get() <= max;
    }

    /** Called once for each request that was counted, even for one too many. */
    void leave() {
        if (count.getAndDecrement() == max && endIsAwaited) {
            endIsAwaited = false;
            context.execute(context::capacityFreed); // later, because this can be in the middle of a loop over requests
        }
    }
}
