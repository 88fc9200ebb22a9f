package dev.zmtp.compare.peer;

import java.time.Duration;

/** When messages should be sent: at a fixed rate, whatever happens to them. */
public final class Schedule {

    /** Messages that are sent at a time, before the sender looks for answers. */
    static final int BURST = 128;

    private static final long SECOND_NANOS = 1_000_000_000;
    private static final long LATE_NANOS = 1_000_000;

    /** The pause before a new start, in which the megabytes that the kernel holds for a connection drain. */
    public static final Duration PAUSE = Duration.ofMillis(200);

    private static final long PAUSE_NANOS = PAUSE.toNanos();

    private final int rate;
    private long start = System.nanoTime();
    private long sent;
    private long due = start;
    private volatile boolean restarts;

    /** A schedule of {@code rate} messages a second. */
    Schedule(int rate) {
        this.rate = rate;
    }

    /**
     * Drops the messages that are overdue, and starts again after a pause, with the next burst. Only this method may be
     * called by any thread.
     */
    void restart() {
        restarts = true;
    }

    /**
     * To be called before each burst; returns whether the schedule was restarted, so that the next message is due at
     * another time.
     */
    boolean begin(long now) {
        if (!restarts) {
            return false;
        }
        restarts = false;
        start = now + PAUSE_NANOS;
        sent = 0;
        due = start;
        return true;
    }

    /** When the next message should be sent. */
    long due() {
        return due;
    }

    /** Whether {@code now} is more than a millisecond after that time. */
    boolean isLate(long now) {
        return now - due > LATE_NANOS;
    }

    /** To be called when the message was sent. */
    void next() {
        sent++;
        // Whole seconds separately: the product of messages and nanoseconds would soon overflow.
        due = start + sent / rate * SECOND_NANOS + sent % rate * SECOND_NANOS / rate;
    }
}
