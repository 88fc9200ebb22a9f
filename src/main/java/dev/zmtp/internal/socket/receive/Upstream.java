package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;

/**
 * Delivers the messages that subscribers send to an XPUB. If its application has never received, such messages must not
 * keep subscriptions from being read. Therefore the oldest are dropped.
 */
public final class Upstream extends Reception {

    private final SocketContext context;
    private final Inbox inbox;

    public Upstream(SocketContext context, Inbox inbox) {
        this.context = context;
        this.inbox = inbox;
    }

    @Override
    public void received(Peer from, ZMTPMessage message) {
        inbox.deliver(from, message);
        makeRoom(context, inbox, from, true);
    }
}
