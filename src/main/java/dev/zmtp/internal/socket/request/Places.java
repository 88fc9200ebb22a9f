package dev.zmtp.internal.socket.request;

import dev.zmtp.internal.memory.MemoryLedger;
import dev.zmtp.internal.socket.context.Magnitudes;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Inbound;
import dev.zmtp.internal.socket.peer.Peer;
import org.jspecify.annotations.Nullable;

/**
 * The places for requests that are with a handler. Peers share them. Each peer can have half of the remaining places,
 * and at least one. Thus a single peer takes no more than a third of them, two peers take a quarter each, and a
 * newcomer finds a place for any number of requests from others. Used on the event loop.
 */
public final class Places {

    /** Number of bytes that handlers can always hold. */
    private static final long FLOOR = 64 << 10;

    private final SocketContext context;

    /** Peers whose next request waits until they have fewer places, or until more places remain. */
    private final Magnitudes<Peer> declined = new Magnitudes<>();

    private int taken;

    /** Bytes of the requests that handlers have not answered, in the memory budget of the socket. */
    private long held;

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

    /** Called with a request that a handler gets. */
    void hold(ServedRequest request) {
        request.held = request.from().memory().ledger() == context.ledger() ? request.memory() : 0;
        held += request.held;
    }

    /** Called when the request has ended. */
    void release(ServedRequest request) {
        held -= request.held;
        request.held = 0;
    }

    /**
     * Returns whether memory is short and the handlers hold a good part of it, which the end of a connection would not
     * free. Others can free memory as well, without notice.
     */
    boolean isMuchHeld() {
        if (held <= FLOOR) {
            return false;
        }
        MemoryLedger ledger = context.ledger();
        long free = ledger.free();
        return free < ledger.limit() / 4 && held > free / 2;
    }

    void take(Peer peer) {
        taken++;
        peer.inbound().served++;
    }

    /**
     * Gives the place of a request back. Returns true if the peer was declined, and can be asked again.
     *
     * @param occupant the {@link Peer#occupant()} that made the request
     */
    boolean giveBack(Peer peer, int occupant) {
        Inbound its = peer.inbound();
        taken--;
        boolean was = declined.remove(peer, its.declinedAt);
        if (occupant == peer.occupant()) { // otherwise an earlier one had the place
            its.served--;
        }
        return was;
    }

    void decline(Peer peer) {
        Inbound its = peer.inbound();
        declined.remove(peer, its.declinedAt);
        its.declinedAt = its.served;
        declined.add(peer, its.declinedAt);
    }

    /**
     * Removes and returns a declined peer that can have a place now; null if there is none. Each such peer takes a
     * place at once, so this costs a request no more than the other steps.
     */
    @Nullable
    Peer recall() {
        return declined.pollLess(share());
    }
}
