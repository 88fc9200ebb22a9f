package dev.zmtp.internal.socket;

import dev.zmtp.ZMTPMessage;

/** Delivers messages of one frame to the application, and drops others whole (RFC 41, 49, 52). */
final class OneFrame extends Reception {

    private final Inbox inbox;

    OneFrame(Inbox inbox) {
        this.inbox = inbox;
    }

    @Override
    void received(Peer from, ZMTPMessage message) {
        if (message.size() == 1) {
            inbox.deliver(from, message);
        } else {
            malformed(from, message);
        }
    }
}
