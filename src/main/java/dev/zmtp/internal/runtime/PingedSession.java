package dev.zmtp.internal.runtime;

/** A session whose connection has heartbeats. On the event loop. */
public interface PingedSession {

    /** Returns whether the peer has sent a PING or a PONG. */
    boolean knowsPings();

    /**
     * Sets whether the peer gets PINGs while it is not read, even if no PING of it was read before. It might send
     * PINGs, and would miss any sign of life.
     */
    void pingUnread(boolean always);
}
