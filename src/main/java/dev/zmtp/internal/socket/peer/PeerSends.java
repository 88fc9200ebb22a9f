package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.CheckReturnValue;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Sends to one peer, from any thread. */
public interface PeerSends {
    @CheckReturnValue
    boolean trySend(Peer peer, ZMTPMessage message);

    void send(Peer peer, ZMTPMessage message, @Nullable CompletableFuture<Void> result);

    boolean mayTake(Peer peer);
}
