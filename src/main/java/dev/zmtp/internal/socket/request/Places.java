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
 * newcomer finds a place for any number of requests from others. What accepted peers have left behind counts as the
 * requests of a single peer, because a client can come and go any number of times. Used on the event loop.
 */
public final class Places {

    /** Number of bytes that handlers can always hold. */
    private static final long FLOOR = 64 << 10;

    /** Stands for all accepted peers that have left, as the holder of a place. */
    private static final int DEPARTED = -1;

    private final SocketContext context;

    /** Peers whose next request waits until they have fewer places, or until more places remain. */
    private final Magnitudes<Peer> declined = new Magnitudes<>();

    /** Accepted peers that have left and whose next request waits, by the number of their places and one. */
    private final Magnitudes<Peer> departed = new Magnitudes<>();

    /** True if the last peer that was recalled first had left, so that either kind has its turn. */
    private boolean departedIsNext;

    private int taken;

    /** Number of places that went to peers that had left. */
    private int takenByDeparted;

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
        return peer.inbound().served + (peer.isForgotten() ? takenByDeparted : 0) < share();
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

    /** Returns the holder of the place, with whom it is given back. */
    int take(Peer peer) {
        taken++;
        if (peer.isForgotten()) {
            takenByDeparted++;
            return DEPARTED;
        }
        peer.inbound().served++;
        return peer.occupant();
    }

    /** Gives the place of a request back. Returns true if the peer was declined, and can be asked again. */
    boolean giveBack(Peer peer, int holder) {
        Inbound its = peer.inbound();
        taken--;
        boolean was = forget(peer);
        if (holder == DEPARTED) {
            takenByDeparted--;
        } else if (holder == peer.occupant()) { // otherwise an earlier one had the place
            its.served--;
        }
        return was;
    }

    void decline(Peer peer) {
        forget(peer);
        Inbound its = peer.inbound();
        its.declinedAt = its.served;
        if (peer.isForgotten()) {
            departed.add(peer, its.declinedAt + 1L);
        } else {
            declined.add(peer, its.declinedAt);
        }
    }

    private boolean forget(Peer peer) {
        int declinedAt = peer.inbound().declinedAt;
        return declined.remove(peer, declinedAt) || departed.remove(peer, declinedAt + 1L);
    }

    /**
     * Removes and returns a declined peer that can have a place now; null if there is none. Each such peer takes a
     * place at once, so this costs a request no more than the other steps.
     */
    @Nullable
    Peer recall() {
        departedIsNext = !departedIsNext;
        Peer first = departedIsNext ? recallOfDeparted() : declined.pollLess(share());
        if (first != null) {
            return first;
        }
        return departedIsNext ? declined.pollLess(share()) : recallOfDeparted();
    }

    private @Nullable Peer recallOfDeparted() {
        return departed.pollLess(share() - takenByDeparted + 1L);
    }
}
