package dev.zmtp.internal.socket;

import dev.zmtp.ZMTPMessage;

/** Drops every message without an error: sockets of these types only send (RFC 29, 30, 48). */
public final class Nothing extends Reception {

    @Override
    void received(Peer from, ZMTPMessage message) {
        malformed(from, message);
    }
}
