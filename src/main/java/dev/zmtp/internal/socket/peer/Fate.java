package dev.zmtp.internal.socket.peer;

/** The fate of a message that was offered to a peer or to the socket. */
public enum Fate {
    /** The transport has it, so it needs no room in a queue. */
    PASSED,
    /** It was released: no peer has the name, or the queue of the peer is full and senders do not wait for it. */
    DROPPED,
    /** It waits in the queue of a peer. */
    QUEUED,
    /** It was not taken, and still belongs to the sender. */
    REFUSED
}
