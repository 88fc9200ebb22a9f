package dev.zmtp.internal.runtime;

/** A connection that counts the messages and bytes of its transport. */
public interface TransportCounts {

    /**
     * Called on the event loop. A listener must neither write nor close, because the connection is in the middle of a
     * write or a read.
     */
    interface Listener {

        /** Called before the promises of these messages complete, which the transport has just accepted. */
        void written(int messages);

        /** Called after a read or a flush with the bytes that the transport has read or sent since the last call. */
        void transferred(long received, long sent);
    }

    /** Sets the listener, and notifies it of the bytes that were transferred before, such as those of the handshake. */
    void listen(Listener listener);
}
