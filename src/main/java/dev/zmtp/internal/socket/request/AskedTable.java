package dev.zmtp.internal.socket.request;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The requests that wait for answers, by their ids. Ids count up, so the one that an answer has is found in the place
 * that its last bits say. An id whose place is taken by an old request is passed over.
 */
final class AskedTable {

    private static final int LEAST = 64;

    /** Always more than twice as long as there are requests, so that few ids are passed over. */
    private @Nullable PendingRequest[] places = new PendingRequest[LEAST];

    private int size;

    /** The bits of an id that count. */
    private final int counted;

    private final int first;

    private int last;

    /** The number of ids that were given, until all were. */
    private int given;

    /** @param first the id before the first one */
    AskedTable(int counted, int first) {
        this.counted = counted;
        this.first = first & counted;
        this.last = this.first;
    }

    /** Returns the number of the next id, whose place is free. */
    int next() {
        if (2 * (size + 1) > places.length) {
            grow();
        }
        do {
            last = (last + 1) & counted;
            given = Math.min(given + 1, counted + 1);
        } while (places[place(last)] != null);
        return last;
    }

    /** Whether a request has had this id. */
    boolean wasGiven(int id) {
        return ((id - first - 1) & counted) < given;
    }

    /** Adds a request that has the id of {@link #next}. */
    void add(PendingRequest request) {
        places[place(request.id)] = request;
        size++;
    }

    private int place(int id) {
        return id & counted & (places.length - 1);
    }

    private void grow() {
        PendingRequest[] before = places;
        places = new PendingRequest[2 * before.length];
        for (PendingRequest each : before) {
            if (each != null) {
                places[place(each.id)] = each;
            }
        }
    }

    /** Returns the request with this id; null if there is none. */
    @Nullable
    PendingRequest get(int id) {
        PendingRequest there = places[place(id)];
        return there != null && there.id == id ? there : null;
    }

    /** Removes a request that is there. */
    void remove(PendingRequest request) {
        places[place(request.id)] = null;
        size--;
    }

    /** Returns those that {@code which} is true of. */
    List<PendingRequest> all(Predicate<PendingRequest> which) {
        List<PendingRequest> found = new ArrayList<>();
        for (PendingRequest each : places) {
            if (each != null && which.test(each)) {
                found.add(each);
            }
        }
        return found;
    }
}
