package dev.zmtp.soak;

import java.util.Random;

/**
 * One thing that an end does to its own connection.
 *
 * @param kind what
 * @param after the number of messages, received or written, after which it happens
 * @param millis how long
 */
record EndFault(Kind kind, int after, int millis) {

    /** What an end can do. */
    enum Kind {
        /** Nothing. */
        NONE,
        /** Does not read for a while. */
        PAUSE,
        /** Closes in the middle of a stream. */
        CLOSE,
        /** Closes in the middle of a stream with a RST. */
        RESET
    }

    /** No fault. */
    static final EndFault NONE = new EndFault(Kind.NONE, 0, 0);

    private static final int MAX_AFTER = 300;

    /** A fault that loses nothing. */
    static EndFault pause(Random random) {
        return new EndFault(Kind.PAUSE, random.nextInt(MAX_AFTER), 20 + random.nextInt(1_500));
    }

    /** A fault that may lose messages. */
    static EndFault breaking(Random random) {
        return new EndFault(random.nextBoolean() ? Kind.CLOSE : Kind.RESET, random.nextInt(MAX_AFTER), 0);
    }

    /** Whether messages may be lost by it. */
    boolean isBreaking() {
        return kind == Kind.CLOSE || kind == Kind.RESET;
    }

    @Override
    public String toString() {
        return kind == Kind.NONE
                ? "nothing"
                : kind + " behind " + after + " messages" + (millis > 0 ? " for " + millis + " ms" : "");
    }
}
