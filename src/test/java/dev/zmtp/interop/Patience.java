package dev.zmtp.interop;

import java.time.Duration;

/** How long the tests wait for what must happen, and for what should have happened before it is tried again. */
final class Patience {

    /** Far more than anything takes: only a failing test waits so long. */
    static final Duration LIMIT = Duration.ofSeconds(30);

    /** The wait between two tries of something that the other side cannot confirm. */
    static final Duration RETRY = Duration.ofMillis(50);

    /** The silence after which a peer that should have connected is replaced. */
    static final Duration MUTE = Duration.ofSeconds(1);

    private Patience() {}

    /** The moment of {@link System#nanoTime} at which waiting ends. */
    static long deadline() {
        return System.nanoTime() + LIMIT.toNanos();
    }

    /** Whether {@code deadline} has passed. */
    static boolean isOver(long deadline) {
        return deadline - System.nanoTime() <= 0;
    }
}
