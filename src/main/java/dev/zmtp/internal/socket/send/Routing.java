package dev.zmtp.internal.socket.send;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.CheckReturnValue;
import dev.zmtp.internal.socket.peer.Fate;
import dev.zmtp.internal.socket.peer.Peer;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Decides which peers a message goes to. Each socket has one, which is used on its event loop. Types that have more to
 * do have it in {@link RoundRobin}, {@link ByName} and {@code FanOut}.
 */
public abstract class Routing {

    /** Whether a message that is refused now may be taken later, so that its sender may wait. */
    public boolean waits() {
        return false;
    }

    /**
     * Offers the message. Unless it is refused, the message and its result are taken over, whatever happens to them.
     */
    @CheckReturnValue
    public abstract Fate route(ZMTPMessage message, @Nullable CompletableFuture<Void> result);

    /** Called when the handshake of a peer has succeeded. Returns why the peer is refused; null if it is accepted. */
    @Nullable
    public String up(Peer peer) {
        return null;
    }

    /** Called when the connection of a peer has ended. */
    public void down(Peer peer) {}

    /** Called when the connector of a peer is being closed: it takes nothing new. */
    public void leaving(Peer peer) {}

    /** Called when a peer that was connected to has left for good. */
    public void left(Peer peer) {}
}
