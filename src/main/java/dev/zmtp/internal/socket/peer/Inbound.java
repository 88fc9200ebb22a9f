package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.ConsistentDeque;
import java.util.Deque;

/**
 * The received messages of a peer that have not been taken yet. Guarded by the lock of the {@code Inbox}, except for
 * the flags.
 */
public final class Inbound {

    public final Deque<ZMTPMessage> messages = new ConsistentDeque<>();
    public long bytes;

    /** Changed under the lock, read on the event loop. */
    public volatile boolean full;

    /** True if its messages get no turn. Only {@code Line} uses it. Changed under the lock, read on the event loop. */
    public volatile boolean aside;

    /** Number of its requests that are with a handler. Only {@code Serving} uses it, on the event loop. */
    public int served;

    /** That number when its next request was declined. */
    public int declinedAt;

    /** Used on the event loop. */
    boolean pausedByUser;

    /** Counts the peers at the endpoint. A requester counts again for each of its connections. */
    private volatile int occupant;

    int occupant() {
        return occupant;
    }

    /**
     * Called when messages and answers must not reach whoever is there next, who does not share the places of the
     * requests that are with a handler. On the event loop, under the lock.
     */
    public void replaced() {
        int next = occupant + 1; // only the event loop changes it
        occupant = next;
        served = 0;
    }
}
