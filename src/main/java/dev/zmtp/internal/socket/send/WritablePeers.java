package dev.zmtp.internal.socket.send;

import dev.zmtp.internal.socket.peer.Peer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The connected peers of a socket in turn. Peers that are free to take a message come first, so that any number of full
 * peers costs nothing. Used on the event loop.
 */
public final class WritablePeers {

    private final List<Peer> peers = new ArrayList<>();

    /** Number of peers, from the first, that might be writable. */
    private int writable;

    private int next;

    int size() {
        return peers.size();
    }

    boolean contains(Peer peer) {
        return peer.position() < peers.size() && peers.get(peer.position()) == peer;
    }

    void add(Peer peer) {
        peer.position(peers.size());
        peers.add(peer);
        becameWritable(peer);
    }

    void remove(Peer peer) {
        if (!contains(peer)) {
            return;
        }
        if (peer.position() < writable) {
            swap(peer.position(), --writable);
        }
        swap(peer.position(), peers.size() - 1);
        peers.remove(peers.size() - 1);
    }

    /** Called when a peer might be free again. */
    void becameWritable(Peer peer) {
        if (contains(peer) && peer.position() >= writable) {
            swap(peer.position(), writable++);
        }
    }

    /** Returns whether {@link #next} would return a peer. */
    boolean hasNext() {
        Peer found = next();
        if (found != null) {
            giveBack();
        }
        return found != null;
    }

    /** Gives the turn back to the peer that {@link #next} has just returned. */
    void giveBack() {
        next--;
    }

    /** Returns the peer whose turn it is; null if no peer is writable. */
    @Nullable
    Peer next() {
        while (writable > 0) {
            if (next >= writable) {
                next = 0;
            }
            Peer peer = peers.get(next);
            if (peer.isFree()) {
                next++;
                return peer;
            }
            swap(next, --writable);
        }
        return null;
    }

    private void swap(int a, int b) {
        Peer first = peers.get(a);
        Peer second = peers.get(b);
        peers.set(a, second);
        peers.set(b, first);
        second.position(a);
        first.position(b);
    }
}
