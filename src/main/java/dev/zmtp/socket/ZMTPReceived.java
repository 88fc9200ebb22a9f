package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;

/**
 * Received message with the peer that sent it, as returned by {@link ZMTPSocket#receiveFrom()}.
 *
 * @param peer the sender, which can have left in the meantime
 * @param message the message as on the wire, without the routing id of the peer. The receiver releases it
 */
public record ZMTPReceived(ZMTPPeer peer, ZMTPMessage message) {}
