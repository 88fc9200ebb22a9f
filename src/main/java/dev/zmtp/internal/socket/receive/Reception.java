package dev.zmtp.internal.socket.receive;

import static dev.zmtp.internal.socket.context.PeerCounters.Counter.MALFORMED;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import io.netty.util.ReferenceCountUtil;
import java.util.Collection;

/** A rule for messages received from peers. Each socket has one, which is used on its event loop. */
public abstract class Reception {

    /** Takes ownership of the message. */
    public abstract void received(Peer from, ZMTPMessage message);

    /** Called with the current peers when the application makes its first request. */
    public void asks(Collection<Peer> there) {}

    /**
     * Drops the oldest messages of a peer that is not read because of them, if the application has never received.
     *
     * @param always whether to do so although the application might receive next. Otherwise, this applies to messages
     *     that a proxy keeps from it and does not forward
     */
    protected static void makeRoom(SocketContext context, Inbox inbox, Peer peer, boolean always) {
        if (peer.inbound().full) {
            context.drops().dropped(peer, DropReason.UNSOLICITED, inbox.dropOldest(peer, always));
        }
    }

    /** Drops a message that the pattern does not allow. */
    public static void malformed(Peer from, ZMTPMessage message) {
        from.counters().add(MALFORMED, 1);
        ReferenceCountUtil.safeRelease(message);
    }
}
