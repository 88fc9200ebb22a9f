package dev.zmtp.internal.socket.peer;

/** The fate of a message that was offered to a peer or to the socket. */
public enum Fate {
    /** The message was passed to the transport, so it needs no room in a queue. */
    PASSED,
    /**
     * The message was released because no peer has the name, or because the peer's queue is full and senders do not
     * wait for it.
     */
    DROPPED,
    /** The message was added to the queue of a peer. */
    QUEUED,
    /** The message was not accepted, and still belongs to the sender. */
    REFUSED
}
