package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocketException;
import org.jspecify.annotations.Nullable;

/** A message whose sender waits for more than its fate: a request. It may end while it waits in a queue. */
public interface Outgoing {

    ZMTPMessage message();

    long bytes();

    /** Its place in a queue; null if it is in none. */
    @Nullable
    QueuedMessage queued();

    void queued(@Nullable QueuedMessage place);

    /** It has come to the event loop, from another thread that has found room for it. */
    void accepted();

    /** Gives it to the transport of the peer. */
    void passTo(Peer peer);

    /** It was not passed to a peer. */
    void refuse(ZMTPSocketException.Reason reason, String text);

    /** The socket is closed while it waits in a queue. */
    void closeQueued();
}
