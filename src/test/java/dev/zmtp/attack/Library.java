package dev.zmtp.attack;

/** The library that an attacked server is built with. */
enum Library {
    /** This one. */
    NETTY_ZMTP,
    /** libzmq. */
    LIBZMQ
}
