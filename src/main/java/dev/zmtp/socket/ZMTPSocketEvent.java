package dev.zmtp.socket;

import java.net.SocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Event about the connections or the messages of a socket. A listener ({@link ZMTPSocket#onEvent}) receives events on
 * an executor, so a listener that blocks delays nothing else. Events that a slow listener has missed are counted in a
 * {@link Missed}.
 */
public sealed interface ZMTPSocketEvent {

    /**
     * The socket is bound and accepts peers.
     *
     * @param endpoint the endpoint, with the real port
     */
    record Listening(String endpoint) implements ZMTPSocketEvent {}

    /**
     * A peer could not be accepted, for example because the process has too many open files. The socket accepts again
     * after a second.
     *
     * @param endpoint the bound endpoint
     * @param cause the cause of the failure
     */
    record AcceptFailed(String endpoint, Throwable cause) implements ZMTPSocketEvent {}

    /**
     * A connection attempt begins.
     *
     * @param endpoint the connecting endpoint
     * @param attempt number of consecutive attempts, starting at 1
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
     * @param cause the cause, if known; a {@link java.nio.channels.ClosedChannelException} if the connection was just
     *     closed
     */
    record PeerDown(ZMTPPeer peer, Throwable cause) implements ZMTPSocketEvent {}

    /**
     * A connection has ended before its handshake was complete. For accepted connections, the first 10 failures of a
     * second are reported separately and the others together at the end of the second, because a scanner causes many.
     *
     * @param endpoint the bound or connecting endpoint
     * @param address the address of the peer, if known
     * @param kind the kind of the failure, which determines the time of the next connection attempt
     * @param cause the cause of the failure
     * @param unreported number of further failures at this endpoint that are not reported separately
     */
    record HandshakeFailed(
            String endpoint, @Nullable SocketAddress address, FailureKind kind, Throwable cause, long unreported)
            implements ZMTPSocketEvent {}

    /** Kind of a failure. */
    enum FailureKind {
        /**
         * There was no connection, or it ended. The name was not resolved, the address was unreachable, or the
         * connection was refused, reset or closed, or timed out.
         */
        TRANSIENT,
        /**
         * Authentication failed at either end, a TLS certificate was refused, for example because it has expired, or a
         * publisher closes each connection after it has received many topics.
         */
        REJECTED,
        /** The peer's socket type, mechanism, version or TLS is incompatible. */
        INCOMPATIBLE,
        /**
         * The peer does not speak ZMTP or TLS. It could be a front end whose service is unavailable, so the delay
         * before the next attempt is that of {@link #TRANSIENT}.
         */
        NOT_ZMTP
    }

    /**
     * A connector waits before its next attempt.
     *
     * @param endpoint the connecting endpoint
     * @param kind the kind of the failure
     * @param attempt number of consecutive failures
     * @param delay the delay before the next attempt
     * @param cause the cause of the failure
     */
    record Retrying(String endpoint, FailureKind kind, int attempt, Duration delay, Throwable cause)
            implements ZMTPSocketEvent {}

    /**
     * An endpoint has ended. It was closed, or a connector has given up because the config allows no further attempts.
     *
     * @param endpoint the endpoint, with the real port if it was bound
     * @param cause the cause of the failure; null if the endpoint was closed
     */
    record Stopped(String endpoint, @Nullable Throwable cause) implements ZMTPSocketEvent {}

    /**
     * The application's handler has thrown an exception. The handler owned the message, and receives the next message.
     *
     * @param peer the peer that the message came from
     * @param cause the exception
     */
    record HandlerFailed(ZMTPPeer peer, Throwable cause) implements ZMTPSocketEvent {}

    /**
     * A peer is too slow, and its queue is half full. The event is fired before any message is dropped, and again after
     * the queue was less than a quarter full.
     *
     * @param peer the peer
     * @param messages number of queued messages
     * @param bytes number of their bytes
     * @param oldestAge the time for which the oldest message has been queued
     * @param dropped number of messages dropped for this peer so far
     */
    record SlowPeer(ZMTPPeer peer, long messages, long bytes, Duration oldestAge, long dropped)
            implements ZMTPSocketEvent {}

    /** Reason for which a message to or from a peer was dropped. */
    enum DropReason {
        /**
         * There was no room for the message, in the peer's queue or on the way to the event loop, and the policy is to
         * drop new messages or the sender did not wait. Also for a REQ or REP that sent a message when it was not its
         * turn to send.
         */
        FULL,
        /** The peer's queue was full, and a newer message replaced this message. */
        REPLACED,
        /**
         * The message was received and not taken before a newer message of the same peer arrived, which replaced it
         * because of {@link ZMTPSocketConfig.ReceiveOverflowPolicy#KEEP_LATEST}.
         */
        OUTDATED,
        /** The message has waited for longer than {@link ZMTPSocketConfig#maxMessageAge()}. */
        EXPIRED,
        /**
         * The {@linkplain dev.zmtp.codec.ZMTPMemoryBudget memory budget} was exceeded, and this peer had kept the most
         * memory for the longest time. Both messages to the peer and messages from the peer count.
         */
        MEMORY_BUDGET,
        /** The message was a request, and the requesting peer has left. */
        REQUESTER_DOWN,
        /**
         * No peer has the routing id, or there is neither a connected peer nor a peer that the message could wait for.
         */
        NO_PEER,
        /** The peer that the message was for has left. */
        PEER_DOWN,
        /**
         * The message was not a reply, and this socket is a DEALER that sends requests, with which the application has
         * never received. The peer has sent more of these messages than the receive queue limit allows. Its replies
         * would otherwise not be read. The same applies to the messages of subscribers to an XPUB, whose subscriptions
         * would otherwise not be read, and to messages to a proxy whose other socket does not send.
         */
        UNSOLICITED,
        /** A frame of the message was released before it was written, because its owner has released it too often. */
        RELEASED
    }

    /**
     * Messages to or from a peer were dropped, or newer messages have replaced them. A message that never reached a
     * queue counts only if its sender has no future that reports the drop. The event is fired for the first message,
     * and then at most once a second for each peer and reason.
     *
     * @param peer the peer; null if the messages were for no particular peer
     * @param reason the reason
     * @param messages number of messages since the previous event of this kind
     */
    record Dropped(@Nullable ZMTPPeer peer, DropReason reason, long messages) implements ZMTPSocketEvent {}

    /**
     * The listener was too slow for some events, which are lost.
     *
     * @param events number of lost events
     */
    record Missed(long events) implements ZMTPSocketEvent {}
}
