package dev.zmtp.socket;

import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Decides which peers a message goes to. Each socket has one, which is used on its event loop. */
abstract class Routing {

    /**
     * Whether the socket may accept as much as all queues have room for; otherwise it accepts up to one queue's
     * limit.
     */
    boolean sharesRoom() {
        return false;
    }

    /** Whether a message that is refused now may be taken later, so that its sender may wait. */
    boolean waits() {
        return sharesRoom();
    }

    /** Whether a message would be taken now. For calls on the event loop, which need no credit. */
    boolean canTakeNow() {
        return true;
    }

    /**
     * Offers the message. Unless it is refused, the message and its result are taken over, whatever happens to them.
     */
    abstract Fate route(ZMTPMessage message, @Nullable CompletableFuture<Void> result);

    /** Sends all peers what they have noted, which otherwise waits for the end of the turn. */
    void endTurn() {}

    /** Sends the peer what it has noted. */
    void sendNoted(Peer peer) {}

    /**
     * Returns the peer that the next message goes to; null if there is none, or if messages do not go to one peer at a
     * time.
     */
    @Nullable
    Peer choose() {
        return null;
    }

    /**
     * Called before {@link #up}: returns the connection whose end the peer should wait for; null if it need not wait.
     */
    @Nullable
    PeerHandler inTheWay(Peer peer) {
        return null;
    }

    /** Called when the handshake of a peer has succeeded. Returns why the peer is refused; null if it is accepted. */
    @Nullable
    String up(Peer peer) {
        return null;
    }

    /** Called when the connection of a peer has ended. */
    void down(Peer peer) {}

    /** Called when the queue of a peer that is connected to may be used, and when such a peer has left for good. */
    void queue(Peer peer, boolean there) {}

    /** Called with a subscription or a cancel of a subscriber. */
    void subscription(Peer peer, ZMTPSubscription subscription) {}

    /** Called when a DISH joins or leaves a group. */
    void membership(Peer peer, ZMTPMembership membership) {}

    /** Returns the peer with the name; null if there is none, or peers have no names. From any thread. */
    @Nullable
    Peer named(ByteBuffer name) {
        return null;
    }
}
