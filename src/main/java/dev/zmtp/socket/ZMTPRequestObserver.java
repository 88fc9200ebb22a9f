package dev.zmtp.socket;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Observer of the requests that a {@link ZMTPSocket} makes and serves, for meters and traces.
 *
 * <p>The methods run on the thread that starts or ends a request, which is often an event loop, so they must not block.
 * An exception that they throw is logged and has no other effect. A request that begins before the observer is added is
 * not observed, and the end of an observed request is reported even after the registration was closed. A request made
 * inside {@link #requestStarted} is observed as well.
 */
public interface ZMTPRequestObserver {

    /** End of a request that a socket has served. */
    enum Outcome {
        /** The handler has replied. */
        REPLIED,
        /** The handler has dropped the request or failed. */
        DROPPED,
        /** The requesting peer had left before the handler replied. */
        REQUESTER_DOWN
    }

    /** Called when the socket makes a request. */
    default void requestStarted() {}

    /**
     * Called when a request has ended, once after each {@link #requestStarted}.
     *
     * @param duration time from the request to the completion of its future
     * @param failure the exception of the future; null if the request was answered
     */
    default void requestEnded(Duration duration, @Nullable Throwable failure) {}

    /**
     * Called when a request that the handler of {@link ZMTPSocket#serve} has received is replied to or dropped.
     *
     * @param duration time from the call of the handler to the end
     */
    default void servedEnded(Duration duration, Outcome outcome) {}
}
