package dev.zmtp.internal.socket;

import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.receive.Inbox;
import dev.zmtp.internal.socket.send.ByName;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import org.jspecify.annotations.Nullable;

/**
 * The messages that wait to be sent to a peer, or received from it, when its connection ends. A peer that the socket
 * connects to keeps them for its next connection, unless the config says otherwise, or they are not meant for whoever
 * is at its endpoint then. Used on the event loop.
 */
final class StaleMessages {

    private final SocketContext context;
    private final Inbox inbox;

    /** Peer that is about to come up with another name, and the number of dropped messages under its last name. */
    private @Nullable Peer renamed;

    private int droppedOfRenamed;

    /** Peer that has lost its name to the peer that is about to come up. */
    private @Nullable Peer nameless;

    /** @param named the names of the peers, if messages are addressed by them */
    @SuppressWarnings("this-escape") // nothing happens before the first peer is up
    StaleMessages(SocketContext context, Inbox inbox, @Nullable ByName named) {
        this.context = context;
        this.inbox = inbox;
        if (named != null) {
            named.beforeRename(this::rename);
            named.whenNameIsLost(peer -> nameless = peer);
        }
    }

    private void rename(Peer peer) {
        renamed = peer;
        droppedOfRenamed = inbox.drop(peer);
    }

    /** Called when a connection has ended. */
    void down(Peer peer, String endpoint) {
        if (!peer.mayBeQueuedFor()) {
            peer.outbound().failQueue(PEER_DOWN, "connection to " + endpoint + " ended");
        }
        if (context.type() == ZMTPSocketType.REP || isRequesterAt(peer)) { // its requests cannot be answered any more
            context.drops().dropped(peer, DropReason.REQUESTER_DOWN, inbox.drop(peer));
        }
    }

    /** Called when a peer is connected, before anything is sent to it. */
    void up(Peer peer) {
        Peer lost = nameless;
        nameless = null;
        boolean wasRenamed = renamed == peer;
        renamed = null;
        if (wasRenamed || isRequesterAt(peer)) { // which another peer can have been before
            int dropped = wasRenamed ? droppedOfRenamed : inbox.drop(peer);
            peer.outbound().failQueue(PEER_DOWN, "another peer is at " + peer.endpointText());
            context.drops().dropped(peer, DropReason.PEER_DOWN, dropped);
            peer.drained();
        }
        if (lost != null) {
            lost.outbound().failQueue(PEER_DOWN, "another peer has its routing id");
            lost.drained();
        }
    }

    /** Returns whether the socket connects to a peer that makes requests. */
    private static boolean isRequesterAt(Peer peer) {
        return peer.home() != null && peer.isRequester();
    }
}
