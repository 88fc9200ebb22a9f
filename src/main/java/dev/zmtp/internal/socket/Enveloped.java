package dev.zmtp.internal.socket;

import dev.zmtp.ZMTPMessage;

/** Delivers requests to the application: frames, an empty one, and data (RFC 28). */
final class Enveloped extends Reception {

    private final SocketCore core;

    Enveloped(SocketCore core) {
        this.core = core;
    }

    @Override
    void received(Peer from, ZMTPMessage message) {
        if (Envelope.length(message) > 0) {
            core.inbox().deliver(from, message);
        } else {
            malformed(from, message);
        }
    }
}
