package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;

/**
 * A message that was received, and the peer that has sent it: {@link ZMTPSocket#receiveFrom()}.
 *
 * @param peer may have gone in the meantime
 * @param message as on the wire, without the name of the peer. The receiver releases it
 */
public record ZMTPReceived(ZMTPPeer peer, ZMTPMessage message) {}
