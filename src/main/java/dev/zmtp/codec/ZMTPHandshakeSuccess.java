package dev.zmtp.codec;

import dev.zmtp.internal.connection.EventText;

/**
 * The user event that the handshake is complete. Fired once per connection, before its first message. Messages written
 * before it have been passed to the transport; from now on writes are not held.
 *
 * @param session the session, which can now be used
 * @param handshake the result of the handshake
 */
public record ZMTPHandshakeSuccess(ZMTPSession session, ZMTPHandshake handshake) {

    /** Shows the peer and what was agreed on, on one line. */
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
