package dev.zmtp.soak;

import dev.zmtp.ZMTPSocketType;

/** The socket types of both sides, and the directions of their messages. */
enum Pattern {
    /** Both send. */
    DEALER_ROUTER(0, ZMTPSocketType.DEALER, ZMTPSocketType.ROUTER, true, true),
    /** The peer sends. */
    PUSH_PULL(1, ZMTPSocketType.PUSH, ZMTPSocketType.PULL, true, false),
    /** The server sends. */
    PULL_PUSH(2, ZMTPSocketType.PULL, ZMTPSocketType.PUSH, false, true),
    /** The server sends, once it has a subscription. */
    SUB_PUB(3, ZMTPSocketType.SUB, ZMTPSocketType.PUB, false, true);

    private final int port;
    private final ZMTPSocketType peer;
    private final ZMTPSocketType server;
    private final boolean up;
    private final boolean down;

    Pattern(int port, ZMTPSocketType peer, ZMTPSocketType server, boolean up, boolean down) {
        this.port = port;
        this.peer = peer;
        this.server = server;
        this.up = up;
        this.down = down;
    }

    /** Where the server's port of this pattern stands among its ports. */
    int port() {
        return port;
    }

    /** The type of the peer's socket. */
    ZMTPSocketType peer() {
        return peer;
    }

    /** The type of the server's socket. */
    ZMTPSocketType server() {
        return server;
    }

    /** Whether the peer sends. */
    boolean isUp() {
        return up;
    }

    /** Whether the server sends. */
    boolean isDown() {
        return down;
    }
}
