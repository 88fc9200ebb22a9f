package dev.zmtp.internal.socket.send;

/** An element of the queue of {@link WaitingSends}, which is a message, or a thread with a message. */
interface InLine {
    /** Takes the required room, or returns false if there is too little. On the event loop. */
    boolean served();

    /** Called when the socket is closed. From any thread. */
    void closed();

    /** Called instead of a place in the queue, because there is no memory for it. */
    void noMemory();

    /** Returns whether the element has stopped waiting. */
    boolean hasLeft();
}
