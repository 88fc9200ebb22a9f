package dev.zmtp.codec;

import dev.zmtp.internal.connection.EventText;

/**
 * User event for a failed handshake. Fired once per connection instead of {@link ZMTPHandshakeSuccess}. The channel is
 * closed afterwards.
 *
 * @param session the session, which will not become usable
 * @param cause the cause, which is usually a {@link dev.zmtp.ZMTPException}, or an exception reported by an earlier
 *     handler or the transport
 * @param silent true if the peer sent no bytes, like a health check that only connects. The cause can then be of any
 *     kind, such as the code {@code CLOSED}, or an {@code IOException} if the peer has reset the connection
 */
public record ZMTPHandshakeFailure(ZMTPSession session, Throwable cause, boolean silent) {

    /** Returns the peer and the cause on a single line. */
    @Override
    public String toString() {
        return new EventText("ZMTPHandshakeFailure")
                .connection(session.config().socketType(), session.peerAddress())
                .cause(cause)
                .toString();
    }
}
