package dev.zmtp.internal.connection;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPException.Code;
import java.net.SocketAddress;

/** Failures of a handshake in which neither side sent anything invalid. */
public final class HandshakeFailures {

    private final Session session;

    public HandshakeFailures(Session session) {
        this.session = session;
    }

    /** Returns the failure of a connection that ended in {@code phase}; {@code how} names the side or the reason. */
    public ZMTPException ended(String how, Phase phase) {
        String peer = session.peerAddress() == null ? "" : " with " + session.peer();
        return new ZMTPException(Code.CLOSED, "handshake" + peer + " ended " + how + " (phase: " + phase + ")");
    }

    /**
     * Returns the failure to connect to {@code peer}. The address appears once, because most of Netty's messages
     * already contain it.
     */
    public ZMTPException notConnected(SocketAddress peer, Throwable cause) {
        String why = cause.getMessage() == null ? cause.toString() : cause.getMessage();
        boolean hasAddress = why.contains(peer.toString());
        return new ZMTPException(Code.CLOSED, "not connected: " + (hasAddress ? why : why + ": " + peer), cause);
    }

    /** Returns the failure of a handshake that took too long and is still in {@code phase}. */
    public ZMTPException timedOut(Phase phase) {
        return new ZMTPException(
                Code.HANDSHAKE_TIMEOUT,
                "handshake with " + session.peer() + ": not complete, phase: " + phase + " (expected: within "
                        + session.config().handshakeTimeout().toMillis() + " ms)");
    }
}
