package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.CheckReturnValue;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ZMTPSocketException;

/** A receiver of one message. */
public interface Taker {
    /** Whether it waits for a message if there is none. */
    default boolean waits() {
        return true;
    }

    /** Takes the message over, or returns false if it no longer wants one. */
    @CheckReturnValue
    boolean take(Peer from, ZMTPMessage message);

    void fail(ZMTPSocketException cause);
}
