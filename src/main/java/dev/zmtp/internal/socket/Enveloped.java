package dev.zmtp.internal.socket;

import dev.zmtp.ZMTPMessage;

/** Delivers requests to the application: frames, an empty one, and data (RFC 28). */
final class Enveloped extends Reception {

    private final Inbox inbox;

    Enveloped(Inbox inbox) {
        this.inbox = inbox;
    }

    @Override
    void received(Peer from, ZMTPMessage message) {
        if (Envelope.length(message) > 0) {
            inbox.deliver(from, message);
        } else {
            malformed(from, message);
        }
    }
}
