package dev.zmtp.attack;

import java.nio.ByteBuffer;

/**
 * What an attacker does with each of its connections.
 *
 * @param once what it sends first
 * @param again what it sends over and over after that; may be empty
 * @param isReading whether it reads what the server sends
 * @param ending how it leaves when it has sent what it sends once, if it does
 * @param answer how many bytes of the server it awaits before that
 */
record Behavior(ByteBuffer once, ByteBuffer again, boolean isReading, Ending ending, int answer) {

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

    /** Sends this, reads, and stays. */
    static Behavior sending(byte[] once) {
        return new Behavior(direct(once), ByteBuffer.allocate(0), true, Ending.STAY, 0);
    }

    private static ByteBuffer direct(byte[] bytes) {
        return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip().asReadOnlyBuffer();
    }

    /** The same, and then sends this without end. */
    Behavior repeating(byte[] bytes) {
        return new Behavior(once, direct(bytes), isReading, ending, answer);
    }

    /** The same, but it never reads. */
    Behavior neverReading() {
        return new Behavior(once, again, false, ending, answer);
    }

    /** The same, but it leaves when the server has sent {@code bytes}. */
    Behavior leaving(Ending by, int bytes) {
        return new Behavior(once, again, isReading, by, bytes);
    }
}
