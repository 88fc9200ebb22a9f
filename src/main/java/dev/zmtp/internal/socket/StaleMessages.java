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
 * connects to keeps them for its next connection, unless they are not meant for whoever is at its endpoint then. Used
 * on the event loop.
 */
final class StaleMessages {

    private final SocketContext context;
    private final Inbox inbox;
    private final @Nullable ByName named;

    /** @param named the names of the peers, if messages are addressed by them */
    StaleMessages(SocketContext context, Inbox inbox, @Nullable ByName named) {
        this.context = context;
        this.inbox = inbox;
        this.named = named;
    }

    /** Called when a connection has ended. */
    void down(Peer peer, String endpoint) {
        boolean isFiltered =
                context.config().subscriptionFilter() != null; // which could refuse the next peer the topic
        if (peer.home() == null || peer.isRequester() || isFiltered) {
            peer.outbound().failQueue(PEER_DOWN, "connection to " + endpoint + " ended");
        }
        if (context.type() == ZMTPSocketType.REP || isRequesterAt(peer)) { // its requests cannot be answered any more
            replace(peer, DropReason.REQUESTER_DOWN);
        }
    }

    /** Called when a peer is connected, before anything is sent to it. */
    void up(Peer peer) {
        if (isRequesterAt(peer) || (named != null && named.wasRenamed(peer))) { // is it another peer?
            replace(peer, DropReason.PEER_DOWN); // first, because a sender that is notified next can send to this peer
            peer.outbound().failQueue(PEER_DOWN, "another peer is at " + peer.endpointText());
            peer.drained();
        }
    }

    private void replace(Peer peer, DropReason reason) {
        int dropped = inbox.drop(peer);
        peer.inbound().replaced(); // last, because a thread that takes a message sees the number that it had
        context.drops().dropped(peer, reason, dropped);
    }

    /** Returns whether the socket connects to a peer that makes requests. */
    private static boolean isRequesterAt(Peer peer) {
        return peer.home() != null && peer.isRequester();
    }
}
