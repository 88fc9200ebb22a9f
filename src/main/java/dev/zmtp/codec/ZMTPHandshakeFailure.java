package dev.zmtp.codec;

import dev.zmtp.internal.connection.EventText;

/**
 * The user event that the handshake failed. Fired once per connection, in place of {@link ZMTPHandshakeSuccess}; then
 * the channel is closed.
 *
 * @param session the session, which will not become usable
 * @param cause usually a {@link dev.zmtp.ZMTPException}, or what an earlier handler or the transport reported
 * @param silent whether the peer has sent nothing at all, as is the case with a health check that only connects. The
 *     cause may be of any kind then: the code {@code CLOSED}, or an {@code IOException} if the peer has reset the
 *     connection
 */
public record ZMTPHandshakeFailure(ZMTPSession session, Throwable cause, boolean silent) {

    /** Shows the peer and the cause, on one line. */
    @Override
    public String toString() {
        return new EventText("ZMTPHandshakeFailure")
                .connection(session.config().socketType(), session.peerAddress())
                .cause(cause)
                .toString();
    }
}
