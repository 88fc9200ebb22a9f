package dev.zmtp.internal.socket.peer;

import dev.zmtp.socket.ZMTPEndpoint;
import org.jspecify.annotations.Nullable;

/** The connector that a peer belongs to. */
public interface PeerHome extends ZMTPEndpoint {
    /** The peer is there, and gets messages. */
    void joined();

    /** This side is about to end a connection that works: the next attempt is as after the first failure. */
    void expectEnd();

    /** A message has left, which may have been the last. */
    void drained();

    /** What ended the last attempt or connection; null while it is connected. */
    @Nullable
    Throwable lastFailure();

    /** Whether its peer takes no more messages. */
    boolean isClosing();
}
