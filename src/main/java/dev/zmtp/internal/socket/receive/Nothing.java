package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.peer.Peer;

/** Drops every message without an error, because sockets of these types only send (RFC 29, 30, 48). */
public final class Nothing extends Reception {

    @Override
    public void received(Peer from, ZMTPMessage message) {
        malformed(from, message);
    }
}
