package dev.zmtp.codec;

/**
 * The user event that the handshake failed. Fired once per connection, in place of {@link ZMTPHandshakeSuccess}; then
 * the channel is closed.
 *
 * @param session the session, which will not become usable
 * @param cause usually a {@link dev.zmtp.ZMTPException}, or what an earlier handler or the transport reported
 */
public record ZMTPHandshakeFailure(ZMTPSession session, Throwable cause) {

    /** Shows the peer and the cause, on one line. */
    @Override
    public String toString() {
        return session.describe(new EventText("ZMTPHandshakeFailure"))
                .cause(cause)
                .toString();
    }
}
