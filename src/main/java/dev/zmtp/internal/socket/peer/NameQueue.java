package dev.zmtp.internal.socket.peer;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The newcomers that wait until a connection gives the name of its peer free, in their order. On the event loop. */
final class NameQueue {

    /** Maximum number of newcomers that wait for one name, each with what one read has brought. Others join at once. */
    static final int MAX_WAITING = 16;

    private final List<Newcomer> waiting = new ArrayList<>(0);

    boolean isFull() {
        return waiting.size() >= MAX_WAITING;
    }

    void add(Newcomer newcomer) {
        waiting.add(newcomer);
    }

    void remove(Newcomer newcomer) {
        waiting.remove(newcomer);
    }

    /** The name is free: the first newcomer that is still there gets it, and the others wait for that one. */
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

    /** Nobody waits any more. */
    void clear() {
        waiting.clear();
    }
}
