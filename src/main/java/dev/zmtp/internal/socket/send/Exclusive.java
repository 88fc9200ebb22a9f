package dev.zmtp.internal.socket.send;

import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerHandler;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends to the only peer (RFC 31, 52). A second peer waits a little, because the first might be about to end, and is
 * refused then. It can try again, and is accepted when the first peer has left.
 */
public final class Exclusive extends RoundRobin {

    private @Nullable Peer peer;

    public Exclusive(SocketContext context, Credit credit, BooleanSupplier isBound) {
        super(context, credit, isBound);
    }

    @Override
    @Nullable
    public PeerHandler inTheWay(Peer peer) {
        return this.peer == null || this.peer == peer ? null : this.peer.link();
    }

    @Override
    @Nullable
    public String up(Peer peer) {
        if (!peer.isLeaving()) { // otherwise it only gets queued messages
            if (this.peer != null && this.peer != peer) {
                return "this socket has its one peer already";
            }
            this.peer = peer;
        }
        return super.up(peer);
    }

    /** The next peer has the place, even while this one still reads what was sent to it. */
    @Override
    public void leaving(Peer peer) {
        leavesPlace(peer);
        super.leaving(peer);
    }

    private void leavesPlace(Peer peer) {
        if (this.peer == peer) {
            this.peer = null;
        }
    }

    @Override
    public void down(Peer peer) {
        leavesPlace(peer);
        super.down(peer);
    }
}
