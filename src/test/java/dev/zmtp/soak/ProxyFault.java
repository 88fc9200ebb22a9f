package dev.zmtp.soak;

import java.util.Random;

/**
 * One thing that a proxy does to a connection.
 *
 * @param kind what
 * @param up whether it is about the bytes from the peer to the server, and not about those from the server
 * @param at the number of bytes in that direction after which it happens
 * @param millis how long
 */
record ProxyFault(Kind kind, boolean up, long at, int millis) {

    /** What a proxy can do. */
    enum Kind {
        /** Reads nothing for a while. */
        STALL(false),
        /** Relays little at a time, for a while. */
        THROTTLE(false),
        /** Relays everything later, for a while. */
        DELAY(false),
        /** Relays a few bytes at a time, each with its own write. */
        CHOP(false),
        /** Ends both connections in the middle, each with a FIN. */
        CLOSE(true),
        /** Ends one direction with a FIN, and goes on with the other. */
        HALF_CLOSE(true),
        /** Ends both connections in the middle, each with a RST. */
        RESET(true),
        /** Relays no more in either direction, and then resets. */
        SILENCE(true);

        private final boolean breaking;

        Kind(boolean breaking) {
            this.breaking = breaking;
        }

        /** Whether messages may be lost by it. */
        boolean isBreaking() {
            return breaking;
        }
    }

    private static final int MAX_MILLIS = 1_500;
    private static final double LOG_OF_MAX_OFFSET = Math.log(4e6);

    /** Some fault that loses nothing. */
    static ProxyFault gentle(Random random) {
        Kind[] kinds = {Kind.STALL, Kind.THROTTLE, Kind.DELAY, Kind.CHOP};
        return new ProxyFault(
                kinds[random.nextInt(kinds.length)], random.nextBoolean(), offset(random), millis(random));
    }

    /** Some fault that may lose messages. */
    static ProxyFault breaking(Random random) {
        int dice = random.nextInt(100);
        Kind kind = dice < 30 ? Kind.CLOSE : dice < 60 ? Kind.HALF_CLOSE : dice < 98 ? Kind.RESET : Kind.SILENCE;
        return new ProxyFault(kind, random.nextBoolean(), offset(random), 0);
    }

    /** As likely among the first ten bytes as among the last of some megabytes: handshakes get their share. */
    private static long offset(Random random) {
        return (long) Math.exp(random.nextDouble() * LOG_OF_MAX_OFFSET);
    }

    private static int millis(Random random) {
        return 20 + random.nextInt(MAX_MILLIS - 20);
    }

    /** The same, for so long. */
    ProxyFault lasting(int other) {
        return new ProxyFault(kind, up, at, other);
    }

    @Override
    public String toString() {
        return kind
                + (up ? " of the peer's bytes after " : " of the server's bytes after ")
                + at
                + (millis > 0 ? " for " + millis + " ms" : "");
    }
}
