package dev.zmtp.internal.socket.request;

import dev.zmtp.internal.socket.context.MessageAges;
import dev.zmtp.internal.socket.context.SocketContext;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The request that a REQ has sent in turn, and that waits for a peer. Changed on the event loop. */
final class Unsent implements MessageAges.Queue {

    private final SocketContext context;
    private final Predicate<PendingRequest> ask;
    private final Consumer<PendingRequest> expire;
    private volatile @Nullable PendingRequest request;
    private long since;

    /**
     * @param ask makes a request if there is room for it, and returns whether there was
     * @param expire called with a request that has waited for too long
     */
    Unsent(SocketContext context, Predicate<PendingRequest> ask, Consumer<PendingRequest> expire) {
        this.context = context;
        this.ask = ask;
        this.expire = expire;
    }

    void set(PendingRequest waits) {
        context.messageAges().added(this);
        since = context.birthTime();
        request = waits;
    }

    /** Makes the request if there is room for it. */
    void serve() {
        PendingRequest waits = take(); // first, because a write can find more room, and so lead here
        if (waits == null) {
            return;
        }
        boolean isMade = false;
        try {
            isMade = ask.test(waits);
        } finally {
            if (!isMade && waits.message != null) { // also if there was no memory, unless a peer has it
                request = waits;
            }
        }
    }

    /** Removes and returns the request; null if there is none. */
    @Nullable
    PendingRequest take() {
        PendingRequest waits = request;
        if (waits != null) {
            request = null;
        }
        return waits;
    }

    @Override
    public int dropOld(int most) {
        PendingRequest old = request != null && context.isTooOld(since) ? take() : null;
        if (old != null) {
            expire.accept(old);
        }
        return old == null ? 0 : 1;
    }

    /** From any thread. */
    @Override
    public boolean hasMessages() {
        return request != null;
    }
}
