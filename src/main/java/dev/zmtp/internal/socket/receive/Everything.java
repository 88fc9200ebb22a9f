package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.peer.Peer;

/** Delivers every message to the application, unchanged. */
public final class Everything extends Reception {

    private final Inbox inbox;

    public Everything(Inbox inbox) {
        this.inbox = inbox;
    }

    @Override
    public void received(Peer from, ZMTPMessage message) {
        inbox.deliver(from, message);
    }
}
