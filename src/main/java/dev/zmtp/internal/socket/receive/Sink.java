package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.peer.Peer;
import org.jspecify.annotations.Nullable;

/** A receiver of all messages of a socket, on the event loop. */
public interface Sink {

    /** Returns whether it takes another message now. */
    boolean wants();

    /** Returns whether it takes one of this peer now, if it takes any. */
    default boolean wants(Peer from) {
        return true;
    }

    /**
     * Called when a message of the peer was not wanted. The peer has no turn until it is {@linkplain Inbox#back given
     * back} or {@linkplain #recall recalled}. It may call nothing, as the lock of the inbox is held.
     */
    default void declined(Peer from) {}

    /**
     * Removes a peer that was declined and is wanted now, and returns it; null if there is none. As {@link #declined}.
     */
    default @Nullable Peer recall() {
        return null;
    }

    void take(Peer from, ZMTPMessage message);

    /** No more will come. */
    void closed();
}
