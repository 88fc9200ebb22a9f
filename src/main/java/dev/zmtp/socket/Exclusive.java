package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Sends to the only peer (RFC 31, 52). A second one is refused. It may try again, and is accepted when the place is
 * free.
 */
final class Exclusive extends Routing {

    private final RoundRobin one;
    private @Nullable Peer peer;

    Exclusive(SocketCore core) {
        this.one = new RoundRobin(core);
    }

    @Override
    boolean sharesRoom() {
        return one.sharesRoom();
    }

    @Override
    boolean canTakeNow() {
        return one.canTakeNow();
    }

    @Override
    Fate route(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        return one.route(message, result);
    }

    @Override
    @Nullable
    String up(Peer peer) {
        if (this.peer != null && this.peer != peer) {
            return "this socket has its one peer already";
        }
        this.peer = peer;
        return one.up(peer);
    }

    @Override
    void down(Peer peer) {
        if (this.peer == peer) {
            this.peer = null;
        }
        one.down(peer);
    }

    @Override
    void queue(Peer peer, boolean there) {
        one.queue(peer, there);
    }
}
