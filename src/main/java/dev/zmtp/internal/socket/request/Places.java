package dev.zmtp.internal.socket.request;

import dev.zmtp.internal.socket.context.Magnitudes;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import org.jspecify.annotations.Nullable;

/**
 * The places of the requests that a handler has. Peers share them: each may have half of those that are left, and one
 * at least. So one peer takes no more than a third of them, two take a quarter each, and a newcomer finds a place,
 * however many requests others send. Used on the event loop.
 */
public final class Places {

    private final SocketContext context;

    /** The peers whose next request waits until they have fewer places, or until more are left. */
    private final Magnitudes<Peer> declined = new Magnitudes<>();

    private int taken;

    public Places(SocketContext context) {
        this.context = context;
    }

    private int left() {
        return context.config().maxOutstandingRequests() - taken;
    }

    boolean areLeft() {
        return left() > 0;
    }

    boolean areLeftFor(Peer peer) {
        return peer.inbound().served < share();
    }

    private int share() {
        return Math.max(1, left() / 2);
    }

    void take(Peer peer) {
        taken++;
        peer.inbound().served++;
    }

    /** Gives the place of a request back. Returns whether the peer was declined, and may be asked again. */
    boolean giveBack(Peer peer) {
        boolean was = declined.remove(peer, peer.inbound().served);
        taken--;
        peer.inbound().served--;
        return was;
    }

    void decline(Peer peer) {
        declined.add(peer, peer.inbound().served);
    }

    /**
     * Removes a peer that was declined and may have a place now, and returns it; null if there is none. Each takes one
     * at once, so this costs a request no more than the others do.
     */
    @Nullable
    Peer recall() {
        return declined.pollLess(share());
    }
}
