package dev.zmtp.compare.peer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** A count that one thread writes and another reads. It costs the writing thread an addition and a store. */
final class Counter {

    private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);

    /** In the middle, so that the counters of other threads are in other cache lines. */
    private static final int MIDDLE = 16;

    private final long[] cells = new long[2 * MIDDLE];

    /** Adds to the count. Always called by the same thread. */
    void add(long count) {
        // Opaque: another thread sees it in the end, and no fence makes this thread wait.
        CELL.setOpaque(cells, MIDDLE, cells[MIDDLE] + count);
    }

    /** The count. May be called by any thread. */
    long count() {
        return (long) CELL.getOpaque(cells, MIDDLE);
    }
}
