package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Sends to one peer after another, and skips those that are full (RFC 28, 30). Messages are queued for a peer that is
 * away only if no peer is connected, as every second message would otherwise wait for an endpoint that may not exist.
 */
final class RoundRobin extends Routing {

    private final SocketCore core;
    private final List<Peer> up = new ArrayList<>();
    private final List<Peer> away = new ArrayList<>();
    private int next;

    RoundRobin(SocketCore core) {
        this.core = core;
    }

    @Override
    boolean sharesRoom() {
        return core.config().slowPeer() == ZMTPSlowPeer.WAIT;
    }

    @Override
    Fate route(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        Peer peer = choose();
        return peer == null ? Fate.REFUSED : peer.send(message, result);
    }

    @Override
    boolean canTakeNow() {
        return (up.isEmpty() ? away : up).stream().anyMatch(Peer::canTake);
    }

    @Override
    @Nullable
    Peer choose() {
        List<Peer> peers = up.isEmpty() ? away : up;
        int size = peers.size();
        for (int i = 0; i < size; i++) {
            if (next >= size) {
                next = 0;
            }
            Peer peer = peers.get(next++);
            if (peer.canTake()) {
                return peer;
            }
        }
        if (size == 0 || sharesRoom()) {
            return null;
        }
        next = next % size + 1; // all were tried
        return peers.get(next - 1); // its queue drops a message
    }

    @Override
    @Nullable
    String up(Peer peer) {
        away.remove(peer);
        if (!peer.isLeaving()) { // otherwise it only gets what is queued
            up.add(peer);
        }
        rooms();
        return null;
    }

    @Override
    void down(Peer peer) {
        queue(peer, peer.connector() != null && !peer.isLeaving());
    }

    @Override
    void queue(Peer peer, boolean there) {
        away.remove(peer);
        up.remove(peer);
        if (there && core.config().queueWhileDown()) {
            away.add(peer);
        } else {
            peer.eligible(false);
        }
        rooms();
    }

    /** Makes the credit the room of those peers that the next message may go to. */
    private void rooms() {
        if (sharesRoom()) {
            up.forEach(peer -> peer.eligible(true));
            away.forEach(peer -> peer.eligible(up.isEmpty()));
            core.room();
        }
    }
}
