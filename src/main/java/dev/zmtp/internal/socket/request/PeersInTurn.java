package dev.zmtp.internal.socket.request;

import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The peers of a REQ that get one request at a time, because the answers have no ids (RFC 28). What was read together
 * with an answer cannot be that to a request made in the meantime. Therefore a peer gets its next request in a later
 * task. On the event loop.
 */
final class PeersInTurn {

    private final SocketContext context;
    private final Consumer<Peer> freed;

    /** @param freed called when a peer can get a request again */
    PeersInTurn(SocketContext context, Consumer<Peer> freed) {
        this.context = context;
        this.freed = freed;
    }

    /** Returns the request that the peer has to answer; null if there is none. */
    static @Nullable PendingRequest awaited(Peer peer) {
        PendingRequest request = (PendingRequest) peer.awaited();
        return request == null || request.peer == null ? null : request; // without a peer, it was just answered
    }

    /** Called when the peer has answered its request, which has ended. */
    void answered(Peer peer, PendingRequest request) {
        try {
            context.execute(() -> free(peer));
            peer.awaited(request);
        } catch (OutOfMemoryError e) {
            free(peer);
        }
    }

    private void free(Peer peer) {
        if (awaited(peer) == null) { // otherwise it has another, over a new connection
            peer.awaited(null);
            freed.accept(peer);
        }
    }
}
