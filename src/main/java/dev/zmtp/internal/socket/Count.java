package dev.zmtp.internal.socket;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** A number that one thread changes and any may read. What is added to it is added to its sum as well. */
public final class Count {

    private static final VarHandle VALUE;

    static {
        try {
            VALUE = MethodHandles.lookup().findVarHandle(Count.class, "value", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // accessed through the handle
    private long value;

    private final @Nullable Count sum;

    public Count() {
        this(null);
    }

    /** A number that is part of a sum, which the same thread changes. */
    Count(@Nullable Count sum) {
        this.sum = sum;
    }

    /** Called only by the thread that owns the number. */
    public void add(long n) {
        VALUE.setOpaque(this, (long) VALUE.get(this) + n);
        if (sum != null) {
            sum.add(n);
        }
    }

    void set(long n) {
        VALUE.setOpaque(this, n);
    }

    public long get() {
        return (long) VALUE.getOpaque(this);
    }
}
