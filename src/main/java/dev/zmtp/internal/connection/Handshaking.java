package dev.zmtp.internal.connection;

import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.security.ZMTPMechanism;

/** The control of the handshake of a connection, as used by the connection and its phases. */
public interface Handshaking {

    /** Returns the phase of the connection before the handshake begins. */
    Phase firstPhase();

    /** Returns the context for the mechanism of the connection. */
    ZMTPMechanism.Context mechanismContext();

    HandshakeFailures failures();

    /** Begins to communicate with the peer, because the channel is active. */
    void begin();

    /** Called when the peer has ended its input and the handshake is not complete. */
    void endedByPeer();

    /**
     * Completes the handshake. {@code traffic} begins after the held writes and the event that announces the success.
     */
    void succeed(ZMTPHandshake result, Phase traffic);

    /** Called when the connection is over. */
    void cancelTimer();
}
