package dev.zmtp.codec;

import dev.zmtp.internal.connection.EventText;

/**
 * User event for a complete handshake. Fired once per connection, before its first message. Messages written earlier
 * have already been passed to the transport, and later writes are not held.
 *
 * @param session the session, which can now be used
 * @param handshake the result of the handshake
 */
public record ZMTPHandshakeSuccess(ZMTPSession session, ZMTPHandshake handshake) {

    /** Returns the peer and the negotiated values on a single line. */
    @Override
    public String toString() {
        EventText text = new EventText("ZMTPHandshakeSuccess")
                .connection(session.config().socketType(), session.peerAddress());
        if (!session.handshakeFuture().isSuccess()) { // not an event of the codec's
            return text.handshake(handshake, null).toString();
        }
        return text.handshake(handshake, session.peerIdentity())
                .decision(session.decision())
                .toString();
    }
}
