package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;

/** Delivers single-frame messages to the application, and drops all others (RFC 41, 49, 52). */
public final class OneFrame extends Reception {

    private final SocketContext context;
    private final Inbox inbox;

    public OneFrame(SocketContext context, Inbox inbox) {
        this.context = context;
        this.inbox = inbox;
    }

    @Override
    public void received(Peer from, ZMTPMessage message) {
        if (message.size() == 1) {
            inbox.deliver(from, message);
            makeRoom(context, inbox, from, false);
        } else {
            malformed(from, message);
        }
    }
}
