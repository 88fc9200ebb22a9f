package dev.zmtp.compare.peer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** A count that one thread makes and another looks at. Costs its thread an addition and a store. */
final class Counter {

    private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);

    /** In the middle, so that what another thread counts is in no cache line of ours. */
    private static final int MIDDLE = 16;

    private final long[] cells = new long[2 * MIDDLE];

    /** Counts. Of one thread. */
    void add(long count) {
        // Opaque: another thread sees it in the end, and no fence makes this thread wait.
        CELL.setOpaque(cells, MIDDLE, cells[MIDDLE] + count);
    }

    /** What was counted until now. Of any thread. */
    long count() {
        return (long) CELL.getOpaque(cells, MIDDLE);
    }
}
