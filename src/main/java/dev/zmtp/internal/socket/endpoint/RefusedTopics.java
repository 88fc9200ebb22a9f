package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.socket.ZMTPSocketException.Reason;
import java.io.IOException;

/**
 * Finds publishers that refuse a subscriber because of the number of its topics. On the wire they just close the
 * connection. A connector whose topics are all refused would send them again and again, and its log would not contain
 * the reason.
 */
final class RefusedTopics {

    /** Number of topics below which a limit is not the likely reason. */
    static final int MANY = 1_000;

    /** Number of consecutive failures that count. A single failure can be a publisher that restarts. */
    private static final int ROW = 2;

    private int inARow;

    /**
     * Returns the probable cause of the end of a connection.
     *
     * @param cause the cause seen by this side
     * @param topics the number of topics sent
     * @param nanos the time for which the connection was up
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

    /** Returns whether this is the cause that was returned for such a publisher. */
    boolean explains(Throwable cause) {
        return inARow >= ROW && cause instanceof ZMTPSocketException;
    }
}
