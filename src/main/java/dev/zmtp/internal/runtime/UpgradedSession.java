package dev.zmtp.internal.runtime;

/** A session of a codec behind another protocol, which begins before the handshake of ZMTP. On the event loop. */
public interface UpgradedSession {

    /** Returns the name of this side's mechanism; empty until the codec is in the pipeline. */
    String mechanismName();

    /** Called when the peer has sent bytes of the other protocol, so that its end is not that of a silent peer. */
    void heardBefore();
}
