package dev.zmtp.codec;

/**
 * The user event that the handshake is complete. Fired once for a connection, before its first message; writes made from
 * here on go out at once, behind those that were held until now.
 *
 * @param session the session that has become usable
 * @param handshake what was agreed on
 */
public record ZMTPHandshakeSuccess(ZMTPSession session, ZMTPHandshake handshake) {}
