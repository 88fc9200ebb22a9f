package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPSession;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The other end of a connection of a {@link ZMTPSocket}.
 *
 * <p>A peer that was accepted exists as long as its connection, and so does what waits for it. A peer that the socket
 * connects to exists until its {@link ZMTPEndpoint} is closed. What waits for it while it is away is sent when it is
 * back (RFC 28 to 31).
 *
 * <p>All methods may be called from any thread. Only ROUTER, SERVER, PEER, PUB and XPUB send to one peer; the others
 * throw {@link UnsupportedOperationException}. Such a message does not begin with the name of the peer. From a PUB or
 * XPUB it goes to the peer whatever that has subscribed to, such as the last value of a topic for a new subscriber.
 */
public interface ZMTPPeer {

    /**
     * The name by which a ROUTER, SERVER or PEER finds this peer, read-only: its routing id, or one that was made here.
     * With other types, the routing id that the peer announced, which may be empty.
     */
    ByteBuffer name();

    /** The {@link #name()} as UTF-8, for the logs. */
    String nameUTF8();

    /** The type of the peer's socket; null before the first handshake, and in ZMTP 1.0, which does not announce it. */
    @Nullable
    ZMTPSocketType type();

    /** What was bound or connected to get this peer. */
    ZMTPEndpoint endpoint();

    /**
     * What the last handshake has agreed on: address, user id, version, metadata. Null before the first one, and over
     * {@code inproc}, where there is none.
     */
    @Nullable
    ZMTPSession session();

    /**
     * Sends a message if there is room for it now.
     *
     * @return whether the message was taken; if not, it still belongs to the caller
     */
    boolean trySend(ZMTPMessage message);

    /** Sends a message, or drops and counts it if there is no room now. Takes it over. Nothing is allocated for it. */
    void sendOrDrop(ZMTPMessage message);

    /**
     * Sends a message, which it takes over. It does not wait for room.
     *
     * @return completes when the transport has written the message; fails with a {@link ZMTPSocketException}
     */
    CompletableFuture<Void> sendAsync(ZMTPMessage message);

    /**
     * Sends a message, which it takes over, and waits until there is room for it in the queue of this peer. If the
     * settings say that what has no room is dropped, it waits for nothing of the peer. What becomes of the message is
     * in {@link #stats()} and the events.
     *
     * @throws ZMTPSocketException with {@code CLOSED}, or with {@code PEER_DOWN} if the peer has left; the message is
     *     released
     * @throws InterruptedException if the thread is interrupted; the message is released
     */
    void send(ZMTPMessage message) throws InterruptedException;

    /** As {@link #send(ZMTPMessage)}, no longer than {@code timeout}. Then it fails with {@code TIMEOUT}. */
    void send(ZMTPMessage message, Duration timeout) throws InterruptedException;

    /**
     * Whether a message would be taken now. On the event loop it is also false after 1,024 messages that this peer
     * was sent in one task by its own methods if there is a listener, so that a loop over it ends.
     */
    boolean isWritable();

    /**
     * Adds an action, which is called on the event loop, in a task of its own: soon if the peer {@linkplain #isWritable
     * is writable}, and whenever it is writable again after a message for it was refused or dropped, or
     * {@link #isWritable} was false. It is not called when the peer leaves: the event {@code PeerDown} reports that.
     */
    ZMTPRegistration onWritable(Runnable action);

    /** Stops reading from this peer until {@link #resume}. What has already arrived is delivered. */
    void pause();

    /** Continues to read from this peer. */
    void resume();

    /** What has happened to the messages of this peer so far. The numbers may be slightly out of date. */
    ZMTPStats stats();

    /** Closes the present connection. If this socket has made it, it connects again. */
    void close();
}
