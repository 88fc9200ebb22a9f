package dev.zmtp.internal.socket.send;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.peer.Fate;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Sends to no peer. Used by sockets that only receive or only answer. */
public final class Nowhere extends Routing {

    @Override
    public Fate route(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        return Fate.REFUSED;
    }
}
