package dev.zmtp.internal.socket;

import dev.zmtp.ZMTPMessage;

/** Delivers every message to the application, unchanged. */
final class Everything extends Reception {

    private final SocketCore core;

    Everything(SocketCore core) {
        this.core = core;
    }

    @Override
    void received(Peer from, ZMTPMessage message) {
        core.inbox().deliver(from, message);
    }
}
