package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.CheckReturnValue;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ZMTPSocketException;

/** A receiver of a single message. */
public interface Taker {
    /** Returns whether the taker waits for a message if there is none. */
    default boolean waits() {
        return true;
    }

    /**
     * Takes ownership of the message, or returns false if the taker needs no message any more.
     *
     * @param occupant the {@link Peer#occupant()} when the message was the next
     */
    @CheckReturnValue
    boolean take(Peer from, int occupant, ZMTPMessage message);

    void fail(ZMTPSocketException cause);
}
