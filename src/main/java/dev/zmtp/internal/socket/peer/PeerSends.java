package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.CheckReturnValue;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Sends to a given peer, from any thread. */
public interface PeerSends {
    @CheckReturnValue
    boolean trySend(Peer peer, ZMTPMessage message);

    void send(Peer peer, ZMTPMessage message, @Nullable CompletableFuture<Void> result);

    /** Blocks until there is room. */
    void sendAndWait(Peer peer, ZMTPMessage message, @Nullable Duration timeout) throws InterruptedException;

    /**
     * Runs the task on the event loop, after the messages that other threads have sent to any peer until now. Returns
     * false if the loop has ended. From any thread.
     */
    boolean afterAccepted(Runnable task);

    /**
     * Sends a peer that leaves the messages that wait until all their peers have room, even beyond the limit of its
     * queue. On the event loop.
     */
    void sendBlocked(Peer peer);

    boolean mayTake(Peer peer);

    /** Returns whether another thread finds room on the way to the event loop. */
    boolean isWayOpen();

    /** Requests a {@link Peer#roomCame} when another thread finds room on the way. On the event loop. */
    void lookWhenWayOpens(Peer peer);

    /** Called when the queue of the peer might have room, and when the peer has left. From any thread. */
    void roomCame(Peer peer);
}
