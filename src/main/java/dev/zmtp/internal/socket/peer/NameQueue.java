package dev.zmtp.internal.socket.peer;

import java.util.ArrayList;
import java.util.List;

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

    /** The name is free: the first newcomer gets it, and the others find that out. */
    void decide() {
        List.copyOf(waiting).forEach(Newcomer::decide);
    }

    /** Nobody waits any more. */
    void clear() {
        waiting.clear();
    }
}
