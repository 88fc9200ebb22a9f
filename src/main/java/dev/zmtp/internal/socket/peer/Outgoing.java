package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocketException;
import org.jspecify.annotations.Nullable;

/** A message whose sender waits for more than its fate, which is a request. It can end while it waits in a queue. */
public interface Outgoing {

    ZMTPMessage message();

    long bytes();

    /** Place of the message in a queue; null if it is not queued. */
    @Nullable
    QueuedMessage queued();

    void queued(@Nullable QueuedMessage place);

    /** Called when the message has reached the event loop from another thread, which has found room for it. */
    void accepted();

    /** Passes the message to the transport of the peer. */
    void passTo(Peer peer);

    /** Called when the message was not passed to a peer. */
    void refuse(ZMTPSocketException.Reason reason, String text);

    /** Called when the socket is closed while the message waits in a queue. */
    void closeQueued();
}
