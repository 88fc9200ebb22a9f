package dev.zmtp.compare;

/** How thorough a comparison is. */
enum Profile {
    /** Each kind of cell, in about ten minutes: shows that everything works, and the rough picture. */
    QUICK(7, 4, 0.4),
    /** All cells, in about two hours. On two slow cores a JVM compiles for more than ten seconds. */
    FULL(9, 8, 0.5);

    private final int windows;
    private final double warmup;
    private final double seconds;

    Profile(int windows, double warmup, double seconds) {
        this.windows = windows;
        this.warmup = warmup;
        this.seconds = seconds;
    }

    /** The windows of each peer in each cell. */
    int windows() {
        return windows;
    }

    /** Seconds of traffic before the first window. */
    double warmup() {
        return warmup;
    }

    /** Seconds of a window. */
    double seconds() {
        return seconds;
    }
}
