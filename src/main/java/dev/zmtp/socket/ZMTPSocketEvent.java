package dev.zmtp.socket;

import java.net.SocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Reports what happens to the connections of a socket. A listener ({@link ZMTPSocket#onEvent}) gets events on an
 * executor, so one that blocks delays nothing else. Events that it is too slow for are counted in a {@link Missed}.
 */
public sealed interface ZMTPSocketEvent {

    /**
     * The socket is bound, and accepts peers.
     *
     * @param endpoint the endpoint, with the real port
     */
    record Listening(String endpoint) implements ZMTPSocketEvent {}

    /**
     * A peer could not be accepted, for example because the process has too many open files. The socket accepts again
     * after a second.
     *
     * @param endpoint the endpoint that is bound
     * @param cause why
     */
    record AcceptFailed(String endpoint, Throwable cause) implements ZMTPSocketEvent {}

    /**
     * An attempt to connect begins.
     *
     * @param endpoint the endpoint that is connected to
     * @param attempt 1 for the first in a row
     */
    record Connecting(String endpoint, int attempt) implements ZMTPSocketEvent {}

    /**
     * The handshake of a peer has succeeded.
     *
     * @param peer the peer
     */
    record PeerUp(ZMTPPeer peer) implements ZMTPSocketEvent {}

    /**
     * The connection of a peer has ended.
     *
     * @param peer the peer
     * @param cause why, if it is known; a {@link java.nio.channels.ClosedChannelException} if the connection was just
     *     closed
     */
    record PeerDown(ZMTPPeer peer, Throwable cause) implements ZMTPSocketEvent {}

    /**
     * A connection has ended before the end of its handshake. Of those that were accepted, the first 10 of a second are
     * reported one by one, and the others together at its end: a scanner makes many.
     *
     * @param endpoint the endpoint that was bound or connected to
     * @param address the address of the peer, if it is known
     * @param kind the kind of the failure, which decides when a connector tries again
     * @param cause why
     * @param others how many more there were at this endpoint, of which nothing else is said
     */
    record HandshakeFailed(String endpoint, @Nullable SocketAddress address, Kind kind, Throwable cause, long others)
            implements ZMTPSocketEvent {}

    /** The kind of a failure. */
    enum Kind {
        /** There was no connection, or it ended: refused, unreachable, reset, closed, timed out, not resolved. */
        TRANSIENT,
        /**
         * Authentication failed at either end, a certificate of TLS was refused, as one that has expired, or a
         * publisher closes each connection after it has got many topics.
         */
        REFUSED,
        /** The peer's socket type, mechanism or version does not fit, or its TLS. */
        INCOMPATIBLE,
        /**
         * What answered does not speak ZMTP, or not TLS. It may be a front whose service is away, so it is tried again
         * as after {@link #TRANSIENT}.
         */
        NOT_ZMTP
    }

    /**
     * A connector waits before it tries again.
     *
     * @param endpoint the endpoint that is connected to
     * @param kind the kind of the failure
     * @param attempt the number of failures in a row
     * @param delay how long it waits
     * @param cause what failed
     */
    record Retrying(String endpoint, Kind kind, int attempt, Duration delay, Throwable cause)
            implements ZMTPSocketEvent {}

    /**
     * An endpoint has ended: peers are accepted no more, or a connector has given up, as the config says that it does
     * not try again.
     *
     * @param endpoint the endpoint, with the real port if it was bound
     * @param cause what failed; null if what was bound was closed
     */
    record Stopped(String endpoint, @Nullable Throwable cause) implements ZMTPSocketEvent {}

    /**
     * The application's handler has thrown. The message was the handler's, and the next one comes.
     *
     * @param peer the peer that the message came from
     * @param cause what was thrown
     */
    record HandlerFailed(ZMTPPeer peer, Throwable cause) implements ZMTPSocketEvent {}

    /**
     * A peer does not keep up: its queue is half full. The event comes before anything is dropped, and again after the
     * queue has been less than a quarter full.
     *
     * @param peer the peer
     * @param messages the number of messages that wait
     * @param bytes their bytes
     * @param oldest how long the oldest one has waited
     * @param dropped the number of messages that were dropped for this peer so far
     */
    record SlowPeer(ZMTPPeer peer, long messages, long bytes, Duration oldest, long dropped)
            implements ZMTPSocketEvent {}

    /** A reason for which a message was dropped that a peer would have got otherwise. */
    enum DropReason {
        /**
         * There was no room for it, in the peer's queue or on the way to the event loop, and the policy is to drop new
         * messages or the sender has not waited. Of a REQ and a REP also: it was not their turn to send.
         */
        FULL,
        /** The peer's queue was full, and a newer message took the place of this one. */
        REPLACED,
        /** It has waited for longer than {@link ZMTPSocketConfig#maxAge()}. */
        EXPIRED,
        /**
         * The {@linkplain dev.zmtp.codec.ZMTPMemoryBudget memory budget} was exceeded, and this peer had kept the most
         * for the longest. Messages to it and messages from it count.
         */
        MEMORY_BUDGET,
        /** It was a request, and the peer that asked has gone. */
        ASKER_GONE,
        /** No peer has its name, or there is no peer, and none that it could wait for. */
        NO_PEER,
        /** The peer that it was for has gone. */
        PEER_GONE,
        /**
         * The peer has sent it to a DEALER that asks and that nobody has ever received from, and it has sent more of
         * these than may wait. Its answers would otherwise not be read.
         */
        UNASKED
    }

    /**
     * Messages for a peer or of a peer were dropped. One that never came to a queue counts only if its sender has no
     * future that says so. The event comes with the first message, and then at most once a second for each peer and
     * reason.
     *
     * @param peer the peer; null if they were for none in particular
     * @param reason why they were dropped
     * @param messages the number of messages since the last of these events
     */
    record Dropped(@Nullable ZMTPPeer peer, DropReason reason, long messages) implements ZMTPSocketEvent {}

    /**
     * The listener was too slow for some events, which are lost.
     *
     * @param events the number of events
     */
    record Missed(long events) implements ZMTPSocketEvent {}
}
