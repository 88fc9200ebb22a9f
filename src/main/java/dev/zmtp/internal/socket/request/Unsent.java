package dev.zmtp.internal.socket.request;

import dev.zmtp.internal.socket.context.MessageAges;
import dev.zmtp.internal.socket.context.SocketContext;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The request that a REQ has sent in turn, and that waits for a peer. Changed on the event loop. */
final class Unsent implements MessageAges.Queue {

    private final SocketContext context;
    private final Consumer<PendingRequest> expire;
    private volatile @Nullable PendingRequest request;
    private long since;

    /** @param expire called with a request that has waited for too long */
    Unsent(SocketContext context, Consumer<PendingRequest> expire) {
        this.context = context;
        this.expire = expire;
    }

    void set(PendingRequest waits) {
        context.messageAges().added(this);
        since = context.birthTime();
        request = waits;
    }

    /** Keeps a request that was taken, and still waits. */
    void keep(PendingRequest waits) {
        request = waits;
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
