package dev.zmtp.internal.socket.request;

import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The requests that wait for answers, by their ids, which count up. */
final class AskedTable {

    /**
     * An odd number, so that each id has a key of its own. Ids count up: neighbours in the map, all of which it would
     * look at when one is removed.
     */
    private static final int SPREAD = 0x9E37_79B1;

    private final IntObjectMap<PendingRequest> requests = new IntObjectHashMap<>();

    /** The bits of an id that count. */
    private final int counted;

    private final int first;

    private int last;

    /** The number of ids that were given, until all were. */
    private int given;

    /** @param first the number before the first one */
    AskedTable(int counted, int first) {
        this.counted = counted;
        this.first = first & counted;
        this.last = this.first;
    }

    /** Returns the next number, which no request has. */
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

    /** Whether a request has had this id. */
    boolean wasGiven(int id) {
        return ((id - first - 1) & counted) < given;
    }

    /** Adds a request that has the number of {@link #next} in its id. */
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

    /** Returns those that {@code which} is true of. */
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
