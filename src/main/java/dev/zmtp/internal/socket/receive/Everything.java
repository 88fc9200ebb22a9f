package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;

/** Delivers every message to the application, unchanged. */
public final class Everything extends Reception {

    private final SocketContext context;
    private final Inbox inbox;

    public Everything(SocketContext context, Inbox inbox) {
        this.context = context;
        this.inbox = inbox;
    }

    @Override
    public void received(Peer from, ZMTPMessage message) {
        inbox.deliver(from, message);
        makeRoom(context, inbox, from, false);
    }
}
