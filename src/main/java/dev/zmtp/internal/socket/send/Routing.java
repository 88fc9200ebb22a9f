package dev.zmtp.internal.socket.send;

import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.internal.socket.peer.Fate;
import dev.zmtp.internal.socket.peer.Outgoing;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerHandler;
import dev.zmtp.internal.socket.peer.SendQueue;
import dev.zmtp.internal.transport.QueueLimit;
import dev.zmtp.socket.ZMTPSocketException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Decides which peers a message goes to. Each socket has one, which is used on its event loop. */
public abstract class Routing {

    /** Whether there is a peer, or one that is connected to, that messages may wait for. From any thread. */
    public boolean isReachable() {
        return true;
    }

    /** Whether a message that is refused now may be taken later, so that its sender may wait. */
    public boolean waits() {
        return false;
    }

    /** Whether a message would be taken now. For calls on the event loop, which need no credit. */
    boolean canTakeNow() {
        return true;
    }

    /**
     * Offers the message. Unless it is refused, the message and its result are taken over, whatever happens to them.
     */
    public abstract Fate route(ZMTPMessage message, @Nullable CompletableFuture<Void> result);

    /** Routes a message that the credit has accepted. Where each peer has a queue of its own, this is not called. */
    public void routeAccepted(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        throw new UnsupportedOperationException();
    }

    /** As {@link #route} of a message, with the types that ask. */
    public Fate route(Outgoing request) {
        throw new UnsupportedOperationException();
    }

    /** As {@link #routeAccepted} of a message, with the types that ask. */
    public void routeAccepted(Outgoing request) {
        throw new UnsupportedOperationException();
    }

    /** Takes a request out of the queue that has ended there. */
    public void forget(Outgoing request) {}

    /** Sends all peers what they have noted, which otherwise waits for the end of the turn. */
    public void endTurn() {}

    /**
     * Called before {@link #up}: returns the connection whose end the peer should wait for; null if it need not wait.
     */
    @Nullable
    public PeerHandler inTheWay(Peer peer) {
        return null;
    }

    /** Whether another peer ends when this one comes up, so that there are no more of them than before. */
    public boolean takesOver(Peer peer) {
        return false;
    }

    /** Called when the handshake of a peer has succeeded. Returns why the peer is refused; null if it is accepted. */
    @Nullable
    public String up(Peer peer) {
        return null;
    }

    /** Called when the connection of a peer has ended. */
    public void down(Peer peer) {}

    /** Called when the socket begins to connect to a peer. In the thread that asks for it. */
    public void expected(Peer peer) {}

    /** Called when the channel of a peer may be written to again, and when the peer has come up. */
    public void becameWritable(Peer peer) {}

    /** Called when the connector of a peer is being closed: it takes nothing new. */
    public void leaving(Peer peer) {}

    /** Called when a peer that was connected to has left for good. */
    public void left(Peer peer) {}

    /** Whether there are messages that only this peer could get. */
    public boolean waitsFor(Peer peer) {
        return !peer.queue().isEmpty();
    }

    /** The queue for all peers, whose room is the credit of the socket; null if each has its own. */
    @Nullable
    public SendQueue queue() {
        return null;
    }

    /** Whether something in the queue for all peers can still leave, now that no new peers are accepted. */
    public boolean hasMoreToSend() {
        return false;
    }

    /** Sets how much may wait in the queue for all peers. */
    public void limit(QueueLimit limit) {}

    /** Fails what waits in the queue for all peers. */
    public void failQueue(ZMTPSocketException.Reason reason, String text) {}

    /** Called with a subscription or a cancel of a subscriber. */
    public void subscription(Peer peer, ZMTPSubscription subscription) {}

    /** Called when a DISH joins or leaves a group. */
    public void membership(Peer peer, ZMTPMembership membership) {}

    /** Returns the peer that the message names, whose room decides whether it is taken. From any thread. */
    @Nullable
    Peer addressee(ZMTPMessage message) {
        return null;
    }

    /** Returns the peer with the name; null if there is none, or peers have no names. From any thread. */
    @Nullable
    public Peer named(ByteBuffer name) {
        return null;
    }
}
