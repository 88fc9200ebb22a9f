package dev.zmtp.internal.socket.peer;

import dev.zmtp.socket.ZMTPEndpoint;
import org.jspecify.annotations.Nullable;

/** The connector that a peer belongs to. */
public interface PeerHome extends ZMTPEndpoint {
    /** Called when the peer is connected, and receives messages. */
    void joined();

    /**
     * Called when this side is about to end a working connection. The next attempt is made as after a first failure.
     */
    void expectEnd();

    /** Called when a message has left the queue. It might have been the last. */
    void drained();

    /** Returns the cause of the end of the last attempt or connection; null while connected. */
    @Nullable
    Throwable lastFailure();

    /** Returns whether its peer accepts no more messages. */
    boolean isClosing();
}
