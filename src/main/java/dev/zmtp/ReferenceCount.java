package dev.zmtp;

import io.netty.util.IllegalReferenceCountException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Reference count of a {@link ZMTPMessage}.
 *
 * <p>It replaces Netty's {@code AbstractReferenceCounted} because most messages are never retained, and Netty's class
 * needs an atomic operation for each release. A release that finds the count at 1 needs no atomic operation here. It
 * drops the only reference, so no other thread can hold a reference to retain or release, and a plain store is
 * sufficient. All other changes are atomic, and a change that was not allowed is undone.
 */
final class ReferenceCount {

    private static final VarHandle COUNT;

    static {
        try {
            COUNT = MethodHandles.lookup().findVarHandle(ReferenceCount.class, "count", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("UnusedVariable") // by COUNT
    private int count;

    int get() {
        return (int) COUNT.getVolatile(this);
    }

    /** Resets the count to 1. No other code may have access to the counted object. */
    void start() {
        count = 1;
    }

    /**
     * Adds {@code increment} references.
     *
     * @throws IllegalReferenceCountException if the count is 0, or would be too large
     */
    void retain(int increment) {
        if (increment <= 0) {
            throw new IllegalArgumentException("increment: " + increment + " (expected: > 0)");
        }
        int before = (int) COUNT.getAndAdd(this, increment);
        if (before <= 0 || before + increment < before) {
            COUNT.getAndAdd(this, -increment);
            throw new IllegalReferenceCountException(before, increment);
        }
    }

    /**
     * Drops a single reference.
     *
     * @return whether it was the last reference
     * @throws IllegalReferenceCountException if the count is 0
     */
    boolean release() {
        if ((int) COUNT.getAcquire(this) == 1) {
            count = 0;
            return true;
        }
        return release(1);
    }

    /**
     * Drops {@code decrement} references.
     *
     * @return whether they were the last references
     * @throws IllegalReferenceCountException if the count is less than {@code decrement}
     */
    boolean release(int decrement) {
        if (decrement <= 0) {
            throw new IllegalArgumentException("decrement: " + decrement + " (expected: > 0)");
        }
        int before = (int) COUNT.getAndAdd(this, -decrement);
        if (before < decrement) {
            COUNT.getAndAdd(this, decrement);
            throw new IllegalReferenceCountException(before, -decrement);
        }
        return before == decrement;
    }
}
