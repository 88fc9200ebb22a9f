package dev.zmtp.internal.socket.send;

import static dev.zmtp.internal.socket.context.PeerCounters.Counter.SENT;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.CheckReturnValue;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Fate;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerSends;
import dev.zmtp.internal.socket.peer.SlowPeers;
import dev.zmtp.internal.socket.send.Sent.ToPeer.Way;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Sends messages to a peer that the application, or a request, specifies by its object. */
public final class DirectSends implements PeerSends {

    private final SocketContext context;
    private final Senders senders;
    private final Routing routing;
    private final SlowPeers slowPeers;
    private final PlaceLines places;

    /** Peers whose listeners for room wait until there is room on the way to the event loop. On the event loop. */
    private final Set<Peer> missedWay = new LinkedHashSet<>(0);

    DirectSends(SocketContext context, Senders senders, Routing routing, SlowPeers slowPeers, PlaceLines places) {
        this.context = context;
        this.senders = senders;
        this.routing = routing;
        this.slowPeers = slowPeers;
        this.places = places;
    }

    /** Takes ownership of the message. From any thread. */
    @Override
    public void send(Peer peer, ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        send(peer, peer.occupant(), message, result);
    }

    /**
     * Sends an answer, and drops it if another peer is at the endpoint, or the same requester over another connection:
     * it could take the answer for that to a later request. Takes ownership of the message. From any thread.
     *
     * @param occupant the {@link Peer#occupant()} that made the request
     */
    public void send(Peer peer, int occupant, ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        if (context.isClosed()) {
            context.drop(peer, message, result, CLOSED, "the socket is closed");
            return;
        }
        if (context.inEventLoop()) {
            sentHere(peer);
            sendNow(peer, occupant, message, result);
            return;
        }
        Sent sent = new Sent.ToPeer(this, peer, occupant, message, result, Way.QUEUE, message.readableBytes());
        if (!senders.takesMessages() || !senders.handIfRoom(sent)) {
            String why = "there is no room on the way to the event loop";
            context.drop(peer, message, result, FULL, why);
            peer.roomMissed();
            senders.refused();
        }
    }

    /** A loop that sends ends when the peer is not writable, or when the socket is not. */
    private void sentHere(Peer peer) {
        peer.sentHere();
        senders.writability().sentHere();
    }

    /** Takes ownership of the message, and waits for room. Not on an event loop. */
    @Override
    public void sendAndWait(Peer peer, ZMTPMessage message, @Nullable Duration timeout) throws InterruptedException {
        senders.blocking().send(peer, message, timeout);
    }

    @Override
    public boolean afterAccepted(Runnable task) {
        return senders.afterAccepted(task);
    }

    @Override
    public void sendBlocked(Peer peer) {
        senders.sendBlocked(peer);
    }

    @Override
    public void roomCame(Peer peer) {
        places.freed(peer);
    }

    /** Returns the number of threads waiting for a place in the queue of a peer. From any thread. */
    int waiting() {
        return places.size();
    }

    /** Ends all waits for room. On the event loop. */
    void close() {
        places.close();
    }

    /** Returns whether {@link #trySend} would accept a message now. From any thread. */
    @Override
    public boolean mayTake(Peer peer) {
        if (context.isClosed() || !isThere(peer) || peer.queue().isAwaited()) {
            return false;
        }
        return context.inEventLoop() ? peer.outbound().canTake() : peer.queue().hasRoom() && isWayOpen();
    }

    @Override
    public boolean isWayOpen() {
        return senders.isWayOpen();
    }

    @Override
    public void lookWhenWayOpens(Peer peer) {
        missedWay.add(peer);
    }

    /** Called when there might be room on the way to the event loop. On the event loop. */
    void wayFreed() {
        if (!missedWay.isEmpty() && isWayOpen()) {
            List<Peer> missed = List.copyOf(missedWay);
            missedWay.clear();
            missed.forEach(Peer::roomCame);
        }
    }

    /** Takes ownership of the message if there is room for it. From any thread. */
    @Override
    public boolean trySend(Peer peer, ZMTPMessage message) {
        if (context.inEventLoop()) {
            sentHere(peer);
            routing.finish();
            boolean free = mayTake(peer);
            if (free) {
                senders.writability().hereWas(Fate.PASSED);
                peer.outbound().sendTakeable(message, null);
            } else {
                peer.outbound().missed();
            }
            return free;
        }
        int occupant = peer.occupant();
        long bytes = message.readableBytes();
        boolean reserved = reserveOrMiss(peer, bytes);
        if (reserved) {
            senders.hand(new Sent.ToPeer(this, peer, occupant, message, null, Way.PLACE, bytes));
        }
        return reserved;
    }

    /**
     * Like {@link #trySend}, without the first frame of the message, which is the peer's name. Not on the event loop.
     */
    @CheckReturnValue
    boolean trySendNamed(ByName.Named to, ZMTPMessage named) {
        Peer peer = to.peer();
        long bytes = lengthWithoutName(named);
        boolean reserved = reserveOrMiss(peer, bytes);
        if (reserved) {
            handNamed(peer, to.occupant(), named, bytes);
        } else { // if the peer has left since its name was found, the next attempt does not find it
            senders.writability().missedPeer(() -> !isThere(peer));
        }
        return reserved;
    }

    static long lengthWithoutName(ZMTPMessage named) {
        return named.readableBytes() - named.frame(0).readableBytes();
    }

    /**
     * Hands over a message without its first frame, which is the peer's name. A place in the queue of the peer and room
     * for {@code bytes} on the way to the event loop are reserved. Not on the event loop.
     */
    void handNamed(Peer peer, int occupant, ZMTPMessage named, long bytes) {
        ZMTPMessage message;
        try {
            message = named.removeFirst(1);
        } catch (RuntimeException e) { // the sender has also released the message
            senders.giveRoomBack(bytes);
            places.giveBack(peer);
            throw e;
        }
        senders.hand(new Sent.ToPeer(this, peer, occupant, message, null, Way.NAMED_PLACE, bytes));
    }

    /** Has the task, which sends an answer, follow the earlier messages of this thread. Not on the event loop. */
    public void handAnswer(Runnable task) {
        senders.hand(new Sent.Answer(task));
    }

    /** Called instead of {@link #arrived} if a message with a place does not arrive. From any thread. */
    void giveBack(Peer peer) {
        places.giveBack(peer);
    }

    private boolean reserveOrMiss(Peer peer, long bytes) {
        boolean reserved = reserve(peer, bytes);
        if (!reserved) {
            peer.outbound().missedElsewhere();
        }
        return reserved;
    }

    private boolean reserve(Peer peer, long bytes) {
        Credit credit = senders.credit();
        Writability writability = senders.writability();
        if (!mayTake(peer)) {
            if (!isWayOpen()) {
                writability.missed();
            } else if (isThere(peer)) {
                writability.missedPeer(() -> mayTake(peer));
            }
            return false;
        }
        if (!peer.queue().reserve()) {
            writability.missedPeer(() -> mayTake(peer));
            return false;
        }
        if (!credit.take(bytes)) {
            places.giveBack(peer);
            senders.refused();
            return false;
        }
        return true;
    }

    /** Sends a message that has reached the event loop. */
    void arrived(Sent.ToPeer sent) {
        senders.credit().give(1, sent.bytes());
        switch (sent.way()) {
            case QUEUE -> sendNow(sent.peer(), sent.occupant(), sent.message(), sent.result());
            case PLACE -> sendToPlace(sent.peer(), isThere(sent.peer(), sent.occupant()), sent.message());
            case NAMED_PLACE -> {
                boolean isNamed = routing instanceof ByName names && names.isNamed(sent.peer());
                sendToPlace(sent.peer(), isNamed && isThere(sent.peer(), sent.occupant()), sent.message());
            }
            case ANSWER -> answer(sent.peer(), sent.occupant(), sent.message());
        }
    }

    private void sendToPlace(Peer peer, boolean isThere, ZMTPMessage message) {
        routing.finish();
        try {
            if (isThere) {
                peer.outbound().sendTakeable(message, null);
            } else {
                dropAsItHasLeft(peer, message, null);
            }
        } finally {
            peer.queue().unreserve(); // not before, because another thread would find a place in a full queue
            peer.roomCame(); // if the transport has taken the message, its place is free
        }
    }

    static boolean isThere(Peer peer) {
        return !peer.isLeaving() && (peer.isUp() || peer.mayBeQueuedFor());
    }

    /** Returns whether the peer is there, and no other is at its endpoint since the number was read. */
    private static boolean isThere(Peer peer, int occupant) {
        return isThere(peer) && occupant == peer.occupant();
    }

    /**
     * Sends the answer of a handler. If the peer's queue is full, the answer is not refused. Instead, the peer, which
     * makes requests without reading answers, is not read until there is room again. Takes ownership of the message. On
     * the event loop.
     */
    public void answer(Peer peer, int occupant, ZMTPMessage message) {
        boolean waits = context.config().overflowPolicy() == OverflowPolicy.WAIT;
        if (!peer.isUp() || occupant != peer.occupant()) {
            dropAsItHasLeft(peer, message, null);
        } else if (waits && !peer.isLeaving()) {
            peer.outbound().sendAccepted(message, null);
            peer.unreadAnswers().changed();
        } else {
            sendNow(peer, occupant, message, null);
        }
    }

    private void sendNow(Peer peer, int occupant, ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        routing.finish();
        if (!isThere(peer, occupant)) {
            dropAsItHasLeft(peer, message, result);
        } else if (peer.queue().isAwaited() || peer.outbound().send(message, result) == Fate.REFUSED) {
            peer.roomMissed();
            peer.counters().add(SENT, 1);
            slowPeers.refuse(peer, message, result);
        }
    }

    private void dropAsItHasLeft(Peer peer, ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        peer.roomMissed();
        context.drop(peer, message, result, PEER_DOWN, "the peer has left");
    }
}
