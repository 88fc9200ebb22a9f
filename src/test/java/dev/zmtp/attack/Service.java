package dev.zmtp.attack;

import dev.zmtp.ZMTPSocketType;

/** What an attacked server does. The first four are made of the codec alone, the others are sockets. */
enum Service {
    /** Sends each message back, and does not read from a peer that does not read. */
    ECHO(ZMTPSocketType.DEALER),
    /** Sends each message back, and keeps what a peer does not read. */
    ECHO_WITHOUT_BACK_PRESSURE(ZMTPSocketType.DEALER),
    /** Sends each message back to peers of CURVE. */
    CURVE_ECHO(ZMTPSocketType.DEALER),
    /** Publishes without a break. */
    PUBLISHER(ZMTPSocketType.SUB),
    /** Sends each message back from its handler. */
    ROUTER(ZMTPSocketType.DEALER),
    /** Answers each request from its handler: with the request, or with a megabyte. */
    REP(ZMTPSocketType.DEALER),
    /** Answers each request from other threads. */
    LATER_REP(ZMTPSocketType.DEALER),
    /** Publishes without a break. */
    PUB(ZMTPSocketType.SUB),
    /** Publishes on another socket what it receives. */
    PULL(ZMTPSocketType.PUSH),
    /** Takes nothing of what it receives. Beside it is another socket, a ROUTER. */
    IDLE_PULL(ZMTPSocketType.DEALER);

    /** The length of a request that a REP answers with a megabyte. */
    static final int ASKS_FOR_A_MEGABYTE = 10;

    private final ZMTPSocketType peer;

    Service(ZMTPSocketType peer) {
        this.peer = peer;
    }

    /** The type of its honest peers. */
    ZMTPSocketType peer() {
        return peer;
    }

    /** Whether it is made of sockets. */
    boolean isSocket() {
        return compareTo(ROUTER) >= 0;
    }

    boolean isPublisher() {
        return peer == ZMTPSocketType.SUB;
    }

    /** Whether a request has an empty frame before its data. */
    boolean hasDelimiter() {
        return this == REP || this == LATER_REP;
    }

    /** Whether it reads, and so sees the end of a connection: not where nobody takes what was read. */
    boolean noticesThatPeersLeave() {
        return this != IDLE_PULL;
    }

    /** Whether the honest peers ask another socket than the one that is attacked. */
    boolean hasAnotherForHonestPeers() {
        return this == IDLE_PULL;
    }
}
