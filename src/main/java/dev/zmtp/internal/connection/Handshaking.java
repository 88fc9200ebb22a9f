package dev.zmtp.internal.connection;

import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.security.ZMTPMechanism;

/** The control of the handshake of a connection, as the connection and its phases see it. */
public interface Handshaking {

    /** The phase of the connection before the handshake begins. */
    Phase firstPhase();

    /** What the mechanism of the connection may ask for. */
    ZMTPMechanism.Context mechanismContext();

    HandshakeFailures failures();

    /** The channel is active: begins to talk with the peer. */
    void begin();

    /** The peer will send nothing more, and the handshake is not complete. */
    void endedByPeer();

    /** The handshake is complete: {@code traffic} begins, after what was held and the event that announces it. */
    void succeed(ZMTPHandshake result, Phase traffic);

    /** The connection is over. */
    void cancelTimer();
}
