package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPSession;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Remote end of a connection of a {@link ZMTPSocket}.
 *
 * <p>An accepted peer exists as long as its connection, and so do the messages queued for it. A peer that the socket
 * connects to exists until its {@link ZMTPEndpoint} is closed. Messages queued for it while it is disconnected are sent
 * after it has reconnected (RFC 28 to 31).
 *
 * <p>All methods can be called from any thread. Only ROUTER, SERVER, PEER, PUB and XPUB send to a single peer. With
 * other types, the send methods throw {@link UnsupportedOperationException}. A message that is sent to a single peer
 * does not begin with the routing id of the peer. A PUB or XPUB sends it regardless of the peer's subscriptions. It can
 * be, for example, the last value of a topic for a new subscriber.
 */
public interface ZMTPPeer {

    /**
     * Returns the routing id by which a ROUTER, SERVER or PEER finds this peer, read-only. It is the identity that the
     * peer announced, or was generated on this side. For other types, it is the announced identity, which can be empty.
     */
    ByteBuffer routingId();

    /** Returns the {@link #routingId()} as UTF-8, for logs. */
    String routingIdUTF8();

    /**
     * Returns the peer's socket type, or null before the first handshake and in ZMTP 1.0, which does not announce it.
     */
    @Nullable
    ZMTPSocketType socketType();

    /** Returns the listener or the connecting endpoint that this peer belongs to. */
    ZMTPEndpoint endpoint();

    /**
     * Returns the session of the last handshake, with address, user ID, version and metadata. Returns null before the
     * first handshake, and always over {@code inproc}.
     */
    @Nullable
    ZMTPSession session();

    /**
     * Sends a message if there is room for it now.
     *
     * @return whether the message was accepted; if not, it remains owned by the caller
     */
    boolean trySend(ZMTPMessage message);

    /**
     * Sends a message, which it takes over, or drops and counts it if there is no room now. Nothing is allocated for
     * it.
     */
    void sendOrDrop(ZMTPMessage message);

    /**
     * Sends a message, which it takes over. It does not wait for room.
     *
     * @return completes when the transport has written the message; fails with a {@link ZMTPSocketException}
     */
    CompletableFuture<Void> sendAsync(ZMTPMessage message);

    /**
     * Sends a message, which it takes over, and waits until there is room for it in the queue of this peer. If the
     * policy {@link ZMTPSocketConfig#overflowPolicy()} drops messages, it does not wait for the peer. The outcome of
     * the message is reported by {@link #stats()} and the events.
     *
     * @throws ZMTPSocketException with {@code CLOSED}, or with {@code PEER_DOWN} if the peer has left; the message is
     *     released
     * @throws InterruptedException if the thread is interrupted; the message is released
     */
    void send(ZMTPMessage message) throws InterruptedException;

    /** Like {@link #send(ZMTPMessage)}, for at most {@code timeout}. Then it fails with {@code TIMEOUT}. */
    void send(ZMTPMessage message, Duration timeout) throws InterruptedException;

    /**
     * Returns whether a message would be accepted now. Once {@link #onWritable} was called, it is also false on the
     * event loop after 1,024 messages sent to this peer by its own methods in one task, so that a sending loop ends.
     */
    boolean isWritable();

    /**
     * Adds an action, which is called on the event loop in a separate task. It is called soon if the peer
     * {@linkplain #isWritable is writable}, and whenever the peer becomes writable again after a message for it was
     * refused or dropped, or {@link #isWritable} returned false. It is not called when the peer leaves, which the event
     * {@code PeerDown} reports.
     */
    ZMTPRegistration onWritable(Runnable action);

    /** Stops reading from this peer until {@link #resumeReading}. Data that has already arrived is delivered. */
    void pauseReading();

    /** Resumes reading from this peer. */
    void resumeReading();

    /**
     * Returns the message counts of this peer so far. The numbers can be slightly out of date. A message that was
     * dropped on its way to the event loop, or because the peer had left, counts for the socket alone.
     */
    ZMTPStats stats();

    /**
     * Closes the current connection, after the messages that were sent to the peer before, as far as its transport has
     * room for them. If this socket established the connection, it connects again.
     */
    void close();
}
