package dev.zmtp.internal.socket.request;

import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The requests waiting for answers, by their ids, which count up. */
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

    /** Adds a request whose id contains the number of {@link #next}. */
    void add(PendingRequest request) {
        requests.put(key(request.id), request);
    }

    /** Returns the request with this id; null if there is none. */
    @Nullable
    PendingRequest get(int id) {
        PendingRequest there = requests.get(key(id));
        return there != null && there.id == id ? there : null;
    }

    void remove(PendingRequest request) {
        requests.remove(key(request.id));
    }

    /** Returns the requests that {@code which} is true for. */
    List<PendingRequest> all(Predicate<PendingRequest> which) {
        List<PendingRequest> found = new ArrayList<>();
        for (PendingRequest each : requests.values()) {
            if (which.test(each)) {
                found.add(each);
            }
        }
        return found;
    }
}
