package dev.zmtp.internal.socket.context;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** A number that a single thread changes and any thread can read. */
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

    /** Called only by the thread that owns the number. */
    public void add(long n) {
        VALUE.setOpaque(this, (long) VALUE.get(this) + n);
    }

    public void set(long n) {
        VALUE.setOpaque(this, n);
    }

    public long get() {
        return (long) VALUE.getOpaque(this);
    }
}
