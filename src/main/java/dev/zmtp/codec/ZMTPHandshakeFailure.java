package dev.zmtp.codec;

/**
 * The user event that the handshake failed. Fired once for a connection, in place of {@link ZMTPHandshakeSuccess}; the
 * channel is closed behind it.
 *
 * @param session the session that will not become usable
 * @param cause why: mostly a {@link dev.zmtp.ZMTPException}, or what an earlier handler or the transport reported
 */
public record ZMTPHandshakeFailure(ZMTPSession session, Throwable cause) {}
