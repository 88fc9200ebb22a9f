package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.CheckReturnValue;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerHandler;
import dev.zmtp.socket.ZMTPSocketException;
import org.jspecify.annotations.Nullable;

/** A receiver of a single message. */
public interface Taker {
    /** Returns whether the taker waits for a message if there is none. */
    default boolean waits() {
        return true;
    }

    /**
     * Takes ownership of the message, or returns false if the taker needs no message any more.
     *
     * @param over the connection of the peer when the message was the next; null if it had ended
     */
    @CheckReturnValue
    boolean take(Peer from, @Nullable PeerHandler over, ZMTPMessage message);

    void fail(ZMTPSocketException cause);
}
