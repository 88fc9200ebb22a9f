package dev.zmtp.compare.peer;

/** What connections are made of. */
enum Medium {
    /** Sockets of the loopback interface. */
    TCP,
    /** Unix domain sockets. */
    IPC,
    /** Memory that both processes have mapped. */
    SHM,
    /** WebSocket, over the loopback interface. */
    WS,
    /** Nothing: both ends are in one process, and messages are handed over. */
    INPROC
}
