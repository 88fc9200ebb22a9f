package dev.zmtp.internal.socket.peer;

import dev.zmtp.internal.socket.context.SocketContext;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A connection whose peer has the name of another one. When a peer closes its socket and opens a new one, the end of
 * the old connection may arrive after the new connection. So the decision is made when the old one has ended, and the
 * socket has done with it, or after a second. What the peer sends in the meantime is deferred, since to the peer the
 * handshake has succeeded.
 */
final class Newcomer {

    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(1);

    private final PeerHandler connection;
    private final BooleanSupplier decide;
    private PeerHandler owner;
    private final Queue<Object> deferred = new ArrayDeque<>(0);
    private @Nullable ScheduledFuture<?> timer;
    private boolean decided;

    /**
     * Nothing happens before {@link #await}.
     *
     * @param connection its own
     * @param owner the connection of the peer that has the name
     * @param decide is called once, unless {@link #forget} comes first, and returns whether it has the name
     */
    Newcomer(PeerHandler connection, PeerHandler owner, BooleanSupplier decide) {
        this.connection = connection;
        this.owner = owner;
        this.decide = decide;
    }

    void await(SocketContext context) {
        owner.nameQueue().add(this);
        timer = context.schedule(this::decide, PATIENCE);
    }

    /** Waits for the rest of its time for another one, which has got the name. */
    void awaitNow(PeerHandler other) {
        if (!decided) {
            owner = other;
            other.nameQueue().add(this);
        }
    }

    /** Called when there is nothing more to wait for. Returns the connection if it has the name now. */
    @Nullable
    PeerHandler decide() {
        if (decided) {
            return null;
        }
        stop();
        return decide.getAsBoolean() ? connection : null;
    }

    private void stop() {
        if (decided) {
            return;
        }
        decided = true;
        owner.nameQueue().remove(this);
        if (timer != null) {
            timer.cancel(false);
        }
    }

    void defer(Object received) {
        deferred.add(received);
    }

    /** Removes and returns the oldest of what is deferred; null if there is nothing. */
    @Nullable
    Object poll() {
        return deferred.poll();
    }

    /** Releases what is deferred, as the connection has ended before the decision. */
    void forget() {
        stop();
        deferred.forEach(ReferenceCountUtil::release);
        deferred.clear();
    }
}
