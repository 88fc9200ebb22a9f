package dev.zmtp.internal.socket;

import dev.zmtp.ZMTPMessage;

/** Delivers every message to the application, unchanged. */
final class Everything extends Reception {

    private final Inbox inbox;

    Everything(Inbox inbox) {
        this.inbox = inbox;
    }

    @Override
    void received(Peer from, ZMTPMessage message) {
        inbox.deliver(from, message);
    }
}
