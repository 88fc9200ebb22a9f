package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.socket.ZMTPSocketException.Reason;
import java.io.IOException;

/**
 * Finds publishers that refuse a subscriber for the number of its topics. On the wire, they just close the connection:
 * so a connector that gets all its topics refused would send them again and again, and its log would not say why.
 */
final class RefusedTopics {

    /** With fewer topics, a limit is not the likely reason. */
    static final int MANY = 1_000;

    /** Once may be a publisher that starts again. */
    private static final int ROW = 2;

    private int inARow;

    /**
     * Returns what a connection seems to have ended for.
     *
     * @param cause what this side has seen
     * @param topics how many were sent
     * @param nanos how long the connection was up
     */
    Throwable of(Throwable cause, long topics, long nanos) {
        if (topics < MANY || nanos >= Backoff.STABLE.toNanos() || !(cause instanceof IOException)) {
            inARow = 0;
            return cause;
        }
        if (++inARow < ROW) {
            return cause;
        }
        String text = "closed by the peer soon after " + topics + " topics, " + inARow
                + " times in a row (expected: a publisher whose maxSubscriptions allows so many)";
        return new ZMTPSocketException(Reason.PEER_DOWN, text, cause);
    }

    /** Whether this is the cause that was returned for such a publisher. */
    boolean explains(Throwable cause) {
        return inARow >= ROW && cause instanceof ZMTPSocketException;
    }
}
