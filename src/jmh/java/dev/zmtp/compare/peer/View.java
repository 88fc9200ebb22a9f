package dev.zmtp.compare.peer;

/** How an application uses one of netty-zmtp's sockets. */
enum View {
    /** On the event loop: {@code trySend} while there is room, and a handler for what comes. */
    HANDLER,
    /**
     * Requests and answers without {@code request} and {@code serve}, as with other libraries: the program counts them,
     * and has no futures, timeouts and ids.
     */
    HAND,
    /** As {@link #HANDLER}, but another thread sends. */
    THREAD,
    /** Another thread sends or asks, and each message has a future. */
    FUTURES,
    /** A thread at each end, which waits for each message. */
    BLOCKING,
    /** As {@link #BLOCKING}, with a virtual thread for each request. */
    VIRTUAL
}
