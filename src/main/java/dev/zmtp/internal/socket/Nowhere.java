package dev.zmtp.internal.socket;

import dev.zmtp.ZMTPMessage;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Sends to no peer: for sockets that only receive, and those that only answer. */
final class Nowhere extends Routing {

    @Override
    boolean canTakeNow() {
        return false;
    }

    @Override
    Fate route(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        return Fate.REFUSED;
    }
}
