package dev.zmtp.internal.socket;

import org.jspecify.annotations.Nullable;

/**
 * Sends to the only peer (RFC 31, 52). A second one is refused. It may try again, and is accepted when the place is
 * free.
 */
final class Exclusive extends RoundRobin {

    private @Nullable Peer peer;

    Exclusive(SocketCore core) {
        super(core);
    }

    @Override
    @Nullable
    String up(Peer peer) {
        if (this.peer != null && this.peer != peer) {
            return "this socket has its one peer already";
        }
        this.peer = peer;
        return super.up(peer);
    }

    @Override
    void down(Peer peer) {
        if (this.peer == peer) {
            this.peer = null;
        }
        super.down(peer);
    }
}
