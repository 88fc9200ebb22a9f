package dev.zmtp.socket;

/**
 * The choice of what happens to a message for a peer whose queue is full. In any case {@link ZMTPSocketEvent.SlowPeer}
 * comes first, and what is dropped is counted for the peer. What other threads have sent, and the event loop has not
 * taken yet, is bounded in the same way; what is dropped there is counted in {@link ZMTPStats#dropped()}.
 */
public enum ZMTPSlowPeer {
    /**
     * The message is not taken, and stays with the sender. The default of all types except publishers, as a publisher
     * that waits for one subscriber keeps all others waiting.
     */
    WAIT,
    /** The message is dropped for this peer. The default of PUB, XPUB, RADIO and XSUB, as in RFC 29. */
    DROP_NEW,
    /** The oldest messages in the queue are dropped until this one fits. */
    DROP_OLD,
    /** The queue holds one message, the latest, of any number of frames. libzmq's CONFLATE keeps one frame. */
    KEEP_LATEST,
    /**
     * The message is dropped, and the peer is disconnected when its oldest message has waited for the
     * {@link ZMTPSocketConfig#slowPeerTimeout()}.
     */
    DISCONNECT
}
