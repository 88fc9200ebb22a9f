package dev.zmtp.internal.socket.peer;

import dev.zmtp.internal.runtime.ConsistentDeque;
import dev.zmtp.internal.runtime.PingedSession;
import dev.zmtp.internal.socket.context.SocketContext;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A connection whose peer has the same name as another peer, or which finds the place of the only peer taken. When a
 * peer closes its socket and opens a new socket, the end of the old connection can arrive after the new connection.
 * Therefore the decision is made when the old connection has ended and the socket has finished with it, or after a
 * second. The end of a connection that is not read, or of which more was read since the last look, cannot be seen, so
 * the last newcomer waits longer then. Earlier ones, which are not read either, might be gone. Data that the peer
 * sends in the meantime is deferred, because from the peer's point of view the handshake has succeeded.
 */
final class Newcomer {

    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(1);

    /** Number of such times that the last newcomer waits if the old connection is not read. */
    private static final int MAX_WAITS = 30;

    private final PeerHandler connection;
    private final BooleanSupplier decide;
    private PeerHandler owner;
    private final Queue<Object> deferred = new ConsistentDeque<>();
    private final @Nullable PingedSession session;
    private @Nullable ScheduledFuture<?> timer;
    private boolean decided;
    private int waits;
    private long receivedFromOwner;

    /**
     * Nothing happens before {@link #await}.
     *
     * @param connection the connection of this newcomer
     * @param owner the connection of the peer that has the name
     * @param info what the handshake has told
     * @param decide called once, unless {@link #forget} is called first; returns whether this newcomer has the name
     */
    Newcomer(PeerHandler connection, PeerHandler owner, PeerInfo info, BooleanSupplier decide) {
        this.connection = connection;
        this.owner = owner;
        this.session = info.pinged();
        this.decide = decide;
    }

    void await(SocketContext context) {
        owner.nameQueue().add(this);
        receivedFromOwner = owner.received();
        pingUnread(true);
        waitOn(context);
    }

    /** The peer is not read, and might end the connection if it gets no PINGs. */
    private void pingUnread(boolean always) {
        if (session != null) {
            session.pingUnread(always);
        }
    }

    private void waitOn(SocketContext context) {
        timer = context.schedule(
                () -> {
                    if (++waits < MAX_WAITS && owner.nameQueue().isLast(this) && isOwnerBehind()) {
                        waitOn(context);
                    } else {
                        decide();
                    }
                },
                PATIENCE);
    }

    /** Returns whether there might be data of the owner before the end of its connection. */
    private boolean isOwnerBehind() {
        long before = receivedFromOwner;
        receivedFromOwner = owner.received();
        return receivedFromOwner != before || !owner.channel().config().isAutoRead();
    }

    /** Waits for the remaining time for another connection, which has taken the name. */
    void awaitNow(PeerHandler other) {
        if (!decided) {
            owner = other;
            other.nameQueue().add(this);
        }
    }

    /** Called when there is nothing left to wait for. Returns the connection if it has the name now. */
    @Nullable
    PeerHandler decide() {
        if (decided) {
            return null;
        }
        stop();
        try {
            return decide.getAsBoolean() ? connection : null;
        } catch (Throwable e) { // such as that there is no memory for deferred data
            connection.fail(e);
            return null;
        }
    }

    private void stop() {
        if (decided) {
            return;
        }
        decided = true;
        pingUnread(false);
        owner.nameQueue().remove(this);
        if (timer != null) {
            timer.cancel(false);
        }
    }

    void defer(Object received) {
        deferred.add(received);
    }

    /** Removes and returns the oldest deferred object; null if there is none. */
    @Nullable
    Object poll() {
        return deferred.poll();
    }

    /** Releases the deferred objects, because the connection has ended before the decision. */
    void forget() {
        stop();
        deferred.forEach(ReferenceCountUtil::release);
        deferred.clear();
    }
}
