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
    /** The plain program: a thread at each end, which waits in {@code send} and {@code receive}. */
    BLOCKING,
    /** A thread that waits in {@code request}, and a handler that answers. */
    REQUEST,
    /** As {@link #BLOCKING}, with a virtual thread for each request. */
    VIRTUAL
}
