package dev.zmtp.attack;

import dev.zmtp.ZMTPSocketType;

/** What an attacked server does. */
enum Service {
    /** Sends each message back, and does not read from a peer that does not read. */
    ECHO,
    /** Sends each message back, and keeps what a peer does not read. */
    ECHO_WITHOUT_BACK_PRESSURE,
    /** Sends each message back to peers of CURVE. */
    CURVE_ECHO,
    /** Publishes without a break. */
    PUBLISHER;

    /** The type of its peers. */
    ZMTPSocketType peer() {
        return this == PUBLISHER ? ZMTPSocketType.SUB : ZMTPSocketType.DEALER;
    }

    /** The name of its own type on the wire. */
    boolean isPublisher() {
        return this == PUBLISHER;
    }
}
