package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.context.Usage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The socket of a connection, which notes what is reported. */
public final class RecordedOwner implements PeerHandler.Owner, PeerSends {

    public final List<String> calls = new ArrayList<>();
    public @Nullable String refusal;
    public @Nullable PeerHandler inTheWay;

    /** Thrown when a message is received. */
    public @Nullable Error failure;

    private final SocketContext context;

    public RecordedOwner(SocketContext context) {
        this.context = context;
    }

    @Override
    public Peer newPeer(@Nullable PeerHome home) {
        return new Peer(context, this, new SlowPeers(context), new Usage(context.config()), home, Peer::exceeded);
    }

    @Override
    public void began(PeerHandler link) {
        calls.add("began");
    }

    @Override
    public @Nullable PeerHandler inTheWay(Peer peer, PeerInfo info) {
        return inTheWay;
    }

    @Override
    public @Nullable String mayJoin(Peer peer, PeerInfo info) {
        return refusal;
    }

    @Override
    public void up(PeerHandler link, Peer peer) {
        peer.up(link);
        calls.add("up");
    }

    @Override
    public void received(Peer from, ZMTPMessage message) {
        calls.add("received " + message.size());
        message.release();
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public void subscription(Peer from, ZMTPSubscription subscription) {
        calls.add("subscription");
    }

    @Override
    public void membership(Peer from, ZMTPMembership membership) {
        calls.add("membership");
    }

    @Override
    public void becameWritable(Peer peer) {
        calls.add("writable");
    }

    @Override
    public void down(PeerHandler link, Peer peer, Throwable cause) {
        peer.down();
        calls.add("down");
    }

    @Override
    public void handshakeFailed(PeerHandler link, Throwable cause) {
        calls.add("failed: " + cause.getMessage());
    }

    @Override
    public void ended(PeerHandler link) {
        calls.add("ended");
    }

    // What is sent to a peer

    @Override
    public boolean trySend(Peer peer, ZMTPMessage message) {
        calls.add("try " + message.size());
        message.release();
        return true;
    }

    @Override
    public void send(Peer peer, ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        calls.add("send " + message.size() + (result == null ? "" : " with a result"));
        message.release();
    }

    @Override
    public boolean afterAccepted(Runnable task) {
        task.run();
        return true;
    }

    @Override
    public void sendBlocked(Peer peer) {}

    @Override
    public boolean mayTake(Peer peer) {
        calls.add("may take");
        return true;
    }

    @Override
    public void sendAndWait(Peer peer, ZMTPMessage message, @Nullable Duration timeout) {
        calls.add("send and wait");
        message.release();
    }

    @Override
    public boolean isWayOpen() {
        return true;
    }

    @Override
    public void lookWhenWayOpens(Peer peer) {}

    @Override
    public void roomCame(Peer peer) {}

    @Override
    public void readComplete() {}
}
