package dev.zmtp.internal.socket.request;

import dev.zmtp.internal.socket.peer.Peer;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The requests waiting for answers, by their ids, which count up, and those of each peer in their order. */
final class AskedTable {

    /**
     * An odd number, so that each id has a distinct key. Consecutive ids would be neighbors in the map, which would
     * visit all of them when one of them is removed.
     */
    private static final int SPREAD = 0x9E37_79B1;

    private final IntObjectMap<PendingRequest> requests = new IntObjectHashMap<>();

    /** Bits of an id that count. */
    private final int counted;

    private final int first;

    private int last;

    /** Number of ids that were given, until all were. */
    private int given;

    /** @param first the number before the first id */
    AskedTable(int counted, int first) {
        this.counted = counted;
        this.first = first & counted;
        this.last = this.first;
    }

    /** Returns the next number that no request has. */
    int next() {
        do {
            last = (last + 1) & counted;
            given = Math.min(given + 1, counted + 1);
        } while (requests.containsKey(key(last)));
        return last;
    }

    private int key(int id) {
        return (id & counted) * SPREAD;
    }

    /** Returns whether a request has had this id. */
    boolean wasGiven(int id) {
        return ((id - first - 1) & counted) < given;
    }

    /** Adds a request to the peer, whose id contains the number of {@link #next}. */
    void add(Peer peer, PendingRequest request) {
        PendingRequest oldest = oldestOf(peer);
        if (oldest == null) {
            peer.asked(request);
            request.older = request;
        } else {
            PendingRequest newest = Objects.requireNonNull(oldest.older);
            newest.newer = request;
            request.older = newest;
            oldest.older = request;
        }
        requests.put(key(request.id), request); // last, because there might be no memory
    }

    /** Returns the request with this id; null if there is none. */
    @Nullable
    PendingRequest get(int id) {
        PendingRequest there = requests.get(key(id));
        return there != null && there.id == id ? there : null;
    }

    void remove(Peer peer, PendingRequest request) {
        requests.remove(key(request.id));
        PendingRequest oldest = oldestOf(peer);
        PendingRequest older = Objects.requireNonNull(request.older);
        PendingRequest newer = request.newer;
        if (request == oldest) {
            peer.asked(newer);
        } else {
            older.newer = newer;
        }
        PendingRequest follower = newer == null ? oldest : newer; // the newest one stands before the oldest
        Objects.requireNonNull(follower).older = older;
        request.older = null;
        request.newer = null;
    }

    private static @Nullable PendingRequest oldestOf(Peer peer) {
        return (PendingRequest) peer.asked();
    }

    /** Returns the only request to this peer; null if there is none, or more. */
    static @Nullable PendingRequest onlyOf(Peer peer) {
        PendingRequest oldest = oldestOf(peer);
        return oldest != null && oldest.newer == null ? oldest : null;
    }

    /** Returns the requests to this peer, the oldest first. */
    static List<PendingRequest> allOf(Peer peer) {
        List<PendingRequest> all = new ArrayList<>();
        for (PendingRequest next = oldestOf(peer); next != null; next = next.newer) {
            all.add(next);
        }
        return all;
    }

    /** Returns all requests, in no order. */
    List<PendingRequest> all() {
        return new ArrayList<>(requests.values());
    }
}
