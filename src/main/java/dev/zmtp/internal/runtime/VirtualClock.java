package dev.zmtp.internal.runtime;

/** Implemented by an event loop whose time is not that of the process. Connections on it measure its time. */
public interface VirtualClock {

    /** Returns the time in nanoseconds, which agrees with the timers of the event loop. From any thread. */
    long currentNanos();

    /** Returns the time at which the clock began. */
    default long beginNanos() {
        return 0;
    }
}
