package dev.zmtp.internal.socket.peer;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The newcomers that wait, in order, until a connection frees the name of its peer. On the event loop. */
final class NameQueue {

    /** Maximum number of newcomers waiting for a name. Further newcomers join at once. */
    static final int MAX_WAITING = 16;

    private final List<Newcomer> waiting = new ArrayList<>(0);

    boolean isFull() {
        return waiting.size() >= MAX_WAITING;
    }

    boolean isLast(Newcomer newcomer) {
        return !waiting.isEmpty() && waiting.get(waiting.size() - 1) == newcomer;
    }

    void add(Newcomer newcomer) {
        waiting.add(newcomer);
    }

    void remove(Newcomer newcomer) {
        waiting.remove(newcomer);
    }

    /** Called when the name is free. The first remaining newcomer gets it, and the others wait for that connection. */
    void decide() {
        List<Newcomer> all = List.copyOf(waiting);
        waiting.clear();
        @Nullable PeerHandler holder = null;
        for (Newcomer next : all) {
            if (holder == null) {
                holder = next.decide();
            } else {
                next.awaitNow(holder);
            }
        }
    }

    /** Removes all newcomers. */
    void clear() {
        waiting.clear();
    }
}
