package dev.zmtp.compare.peer;

/** When messages should be sent: at a fixed rate, from now on, whatever happens to them. */
final class Schedule {

    /** Messages that are sent at one go: then whoever sends looks for answers. */
    static final int BURST = 128;

    private static final long SECOND_NANOS = 1_000_000_000;
    private static final long LATE_NANOS = 1_000_000;

    /** Before a new beginning: the megabytes that the kernel holds of a connection drain in it. */
    private static final long PAUSE_NANOS = 200_000_000;

    private final int rate;
    private long start = System.nanoTime();
    private long sent;
    private long due = start;
    private volatile boolean restarts;

    /** A schedule of {@code rate} messages a second. */
    Schedule(int rate) {
        this.rate = rate;
    }

    /** Forgets what is still owed, and begins again after a pause, with the next burst. Of any thread, the only method that is. */
    void restart() {
        restarts = true;
    }

    /** A burst is about to be sent; returns whether the next message is due at another time than before. */
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

    /** Whether it is a millisecond behind that time. */
    boolean isLate(long now) {
        return now - due > LATE_NANOS;
    }

    /** It was sent. */
    void next() {
        sent++;
        // The whole seconds apart: the product of messages and nanoseconds would not fit for long.
        due = start + sent / rate * SECOND_NANOS + sent % rate * SECOND_NANOS / rate;
    }
}
