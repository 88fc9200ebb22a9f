package dev.zmtp.internal.socket.send;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.CheckReturnValue;
import dev.zmtp.internal.socket.peer.Fate;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerHandler;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Decides which peers a message is sent to. Each socket has one routing, which is used on its event loop. The types
 * with further tasks implement them in {@link RoundRobin}, {@link ByName} and {@code FanOut}.
 */
public abstract class Routing {

    /** Returns whether a message that is refused now can be accepted later, so that its sender can wait. */
    public boolean waits() {
        return false;
    }

    /**
     * Returns whether sends wait if there is no room on the way to the event loop, also if no message is refused there.
     */
    public boolean sendsWait() {
        return waits();
    }

    /**
     * Offers the message. Unless it is refused, ownership of the message and its result is taken, whatever happens to
     * them.
     */
    @CheckReturnValue
    public abstract Fate route(ZMTPMessage message, @Nullable CompletableFuture<Void> result);

    /**
     * Sends a message to its remaining peers, because the listener of a write to an earlier peer sends another message.
     */
    public void finish() {}

    /** Sends a message that waits for all its peers to one of them now, if it is one. Retains the message. */
    public void sendAlone(ZMTPMessage message, Peer peer) {}

    /** Called after the socket has begun to connect to a peer. */
    public void added(Peer peer) {}

    /** Returns the connection whose end this peer should wait for before it comes up; null if it need not wait. */
    @Nullable
    public PeerHandler inTheWay(Peer peer) {
        return null;
    }

    /**
     * Called when the handshake of a peer has succeeded. Returns the reason why the peer is refused; null if it is
     * accepted.
     */
    @Nullable
    public String up(Peer peer) {
        return null;
    }

    /** Called when the connection of a peer has ended. */
    public void down(Peer peer) {}

    /** Called when the connector of a peer is being closed. The peer accepts no new messages. */
    public void leaving(Peer peer) {}

    /** Called when a peer that was connected to has left permanently. */
    public void left(Peer peer) {}
}
