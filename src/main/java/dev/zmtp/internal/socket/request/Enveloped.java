package dev.zmtp.internal.socket.request;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.receive.Inbox;
import dev.zmtp.internal.socket.receive.Reception;

/** Delivers requests to the application. A request consists of frames, an empty frame, and data (RFC 28). */
public final class Enveloped extends Reception {

    private final Inbox inbox;

    public Enveloped(Inbox inbox) {
        this.inbox = inbox;
    }

    @Override
    public void received(Peer from, ZMTPMessage message) {
        if (Envelope.length(message) > 0) {
            inbox.deliver(from, message);
        } else {
            malformed(from, message);
        }
    }
}
