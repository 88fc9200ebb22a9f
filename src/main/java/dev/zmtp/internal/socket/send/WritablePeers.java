package dev.zmtp.internal.socket.send;

import dev.zmtp.internal.socket.peer.Peer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The connected peers of a socket in turn. Those that are free to take a message stand first, so the ones that are full
 * cost nothing, however many they are. Used on the event loop.
 */
public final class WritablePeers {

    private final List<Peer> peers = new ArrayList<>();

    /** How many of them, from the first, may be writable. */
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

    /** Called when a peer may be free again. */
    void becameWritable(Peer peer) {
        if (contains(peer) && peer.position() >= writable) {
            swap(peer.position(), writable++);
        }
    }

    /** Whether {@link #next} would return one. */
    boolean hasNext() {
        Peer found = next();
        if (found != null) {
            giveBack();
        }
        return found != null;
    }

    /** Makes it the turn again of the peer that {@link #next} has just returned. */
    void giveBack() {
        next--;
    }

    /** Returns the peer whose turn it is; null if none is writable. */
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
