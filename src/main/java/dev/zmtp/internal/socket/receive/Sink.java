package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.peer.Peer;
import org.jspecify.annotations.Nullable;

/** A receiver of all messages of a socket, on the event loop. */
public interface Sink {

    /** Returns whether the sink accepts another message now. */
    boolean wants();

    /** Returns whether the sink accepts a message of this peer now, if it accepts any. */
    default boolean wants(Peer from) {
        return true;
    }

    /**
     * Called when a message of the peer was not accepted. The peer has no turn until it is
     * {@linkplain Inbox#back given back} or {@linkplain #recall recalled}. Must not call anything, because the caller
     * owns the lock of the inbox.
     */
    default void declined(Peer from) {}

    /**
     * Removes and returns a declined peer whose messages are accepted now; null if there is none. Like
     * {@link #declined}.
     */
    default @Nullable Peer recall() {
        return null;
    }

    void take(Peer from, ZMTPMessage message);

    /** Called when there will be no more messages. */
    void closed();
}
