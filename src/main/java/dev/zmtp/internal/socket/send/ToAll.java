package dev.zmtp.internal.socket.send;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.memory.MessageMemory;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Fate;
import dev.zmtp.internal.socket.peer.Peer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Sends to every peer, without waiting for any of them (RFC 29, XSUB). */
public final class ToAll extends Routing {

    private final SocketContext context;
    private final List<Peer> peers = new ArrayList<>();
    private final Recipients recipients = new Recipients();

    public ToAll(SocketContext context) {
        this.context = context;
    }

    @Override
    public Fate route(ZMTPMessage accepted, @Nullable CompletableFuture<Void> result) {
        recipients.finish();
        ZMTPMessage message =
                MessageMemory.isWasteful(accepted) && mayWait() ? MessageMemory.compact(accepted) : accepted;
        int first = recipients.size();
        try {
            for (int i = 0; i < peers.size(); i++) {
                Peer peer = peers.get(i);
                if (!peer.isLeaving()) { // otherwise it only gets queued messages
                    recipients.add(peer);
                }
            }
            recipients.begin(message, first);
            recipients.send();
        } finally {
            recipients.remove(first);
        }
        message.release(); // throws if its sender has also released it, and the sender is notified
        context.completions().succeed(result);
        return Fate.PASSED;
    }

    @Override
    public void finish() {
        recipients.finish();
    }

    @Override
    public boolean sendsWait() {
        return true;
    }

    private boolean mayWait() {
        return peers.stream().anyMatch(peer -> peer.outbound().wouldQueue());
    }

    @Override
    public void added(Peer peer) {
        if (peer.mayBeQueuedFor()) {
            peers.add(peer);
        }
    }

    @Override
    @Nullable
    public String up(Peer peer) {
        if (!peers.contains(peer)) {
            peers.add(peer);
        }
        return null;
    }

    @Override
    public void down(Peer peer) {
        if (!peer.mayBeQueuedFor()) {
            peers.remove(peer);
        }
    }

    @Override
    public void left(Peer peer) {
        peers.remove(peer);
    }
}
