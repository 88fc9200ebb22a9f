package dev.zmtp.internal.socket.peer;

import dev.zmtp.internal.socket.context.SocketContext;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A connection whose peer has the name of another one. When a peer closes its socket and opens a new one, the end of
 * the old connection may arrive after the new connection. So the decision is made when the old one has ended, and the
 * socket has done with it, or after a second. What the peer sends in the meantime is deferred, since to the peer the
 * handshake has succeeded.
 */
final class Newcomer {

    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(1);

    private final PeerHandler owner;
    private final Runnable decide;
    private final Queue<Object> deferred = new ArrayDeque<>(0);
    private @Nullable ScheduledFuture<?> timer;
    private boolean decided;

    /**
     * Nothing happens before {@link #await}.
     *
     * @param owner the connection of the peer that has the name
     * @param decide is called once, unless {@link #forget} comes first
     */
    Newcomer(PeerHandler owner, Runnable decide) {
        this.owner = owner;
        this.decide = decide;
    }

    void await(SocketContext context) {
        owner.nameQueue().add(this);
        timer = context.schedule(this::decide, PATIENCE);
    }

    /** Called when there is nothing more to wait for. */
    void decide() {
        if (!decided) {
            stop();
            decide.run();
        }
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
