package dev.zmtp.internal.socket.send;

/** A member of the line of {@link WaitingSends}: a message, or a thread that has one. */
interface InLine {
    /** Takes the room it waits for, or returns false if there is too little. On the event loop. */
    boolean served();

    /** The socket is closed. From any thread. */
    void closed();

    /** Whether it waits no more. */
    boolean hasLeft();
}
