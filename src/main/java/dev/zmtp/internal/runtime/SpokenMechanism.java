package dev.zmtp.internal.runtime;

/** A session of the codec that knows the mechanism of its connection before the handshake. */
public interface SpokenMechanism {

    /** Returns the name of this side's mechanism, on the event loop; empty until the codec is in the pipeline. */
    String mechanismName();
}
