package dev.zmtp.attack;

import java.nio.ByteBuffer;

/**
 * What an attacker does with each of its connections.
 *
 * @param opening what it sends first
 * @param once what it sends when the server has begun its own READY: libzmq refuses messages that come earlier
 * @param again what it sends over and over after that; may be empty
 * @param isReading whether it reads what the server sends after the handshake
 * @param timing when it sends
 * @param ending how it leaves when it has sent what it sends once, if it does
 * @param answer how many bytes of the server it awaits before it leaves
 */
record Behavior(
        ByteBuffer opening,
        ByteBuffer once,
        ByteBuffer again,
        boolean isReading,
        Timing timing,
        Ending ending,
        int answer) {

    /** When an attacker sends. */
    enum Timing {
        /** As soon as it can. */
        AT_ONCE,
        /** What it sends once, when all attackers are there. */
        TOGETHER,
        /** With a pause of a few milliseconds before it begins again. */
        PAUSING
    }

    /** How an attacker ends a connection. */
    enum Ending {
        /** Not at all. */
        STAY,
        /** With a FIN. */
        CLOSE,
        /** With a FIN, after which it still reads until the server closes. */
        HALF_CLOSE,
        /** With an RST. */
        RESET
    }

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** Connects, sends this, reads, and stays. */
    static Behavior startingWith(byte... bytes) {
        return new Behavior(direct(bytes), NOTHING, NOTHING, true, Timing.AT_ONCE, Ending.STAY, 0);
    }

    private static ByteBuffer direct(byte[] bytes) {
        return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip().asReadOnlyBuffer();
    }

    /** The same, and sends this after the handshake. */
    Behavior sending(byte... bytes) {
        return new Behavior(opening, direct(bytes), again, isReading, timing, ending, answer);
    }

    /** The same, and sends this without end after the rest. */
    Behavior repeating(byte... bytes) {
        return new Behavior(opening, once, direct(bytes), isReading, timing, ending, answer);
    }

    /** The same, but it reads nothing after the handshake. */
    Behavior neverReading() {
        return new Behavior(opening, once, again, false, timing, ending, answer);
    }

    /** The same, but what it sends once waits until all attackers are there. */
    Behavior together() {
        return new Behavior(opening, once, again, isReading, Timing.TOGETHER, ending, answer);
    }

    /** The same, with a pause of a few milliseconds each time that it has sent what it repeats. */
    Behavior pausing() {
        return new Behavior(opening, once, again, isReading, Timing.PAUSING, ending, answer);
    }

    /** The same, but it leaves when the server has sent {@code bytes}. */
    Behavior leaving(Ending by, int bytes) {
        return new Behavior(opening, once, again, isReading, timing, by, bytes);
    }

    /** Whether it sends something after the handshake. */
    boolean isTalking() {
        return once.limit() + again.limit() > 0;
    }
}
