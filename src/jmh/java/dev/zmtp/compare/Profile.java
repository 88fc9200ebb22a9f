package dev.zmtp.compare;

/** How thorough a comparison is. */
enum Profile {
    /** Each kind of cell, in less than four minutes: shows that everything works, and the rough picture. */
    QUICK(2, 1.5, 1),
    /** All cells, in about 55 minutes. */
    FULL(4, 2.5, 2);

    private final int rounds;
    private final double warmup;
    private final double seconds;

    Profile(int rounds, double warmup, double seconds) {
        this.rounds = rounds;
        this.warmup = warmup;
        this.seconds = seconds;
    }

    /** How often each cell is measured for each peer. */
    int rounds() {
        return rounds;
    }

    /** Seconds of traffic before the measured ones. */
    double warmup() {
        return warmup;
    }

    /** Seconds of traffic that are measured. */
    double seconds() {
        return seconds;
    }
}
