package dev.zmtp.socket;

import static dev.zmtp.socket.ZMTPSocketException.Reason.MUTE;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;

import dev.zmtp.ZMTPMessage;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Messages to a peer that the application, or a request, names by its object. */
final class DirectSends {

    /** A message on its way to the event loop, in line with those that have no address. */
    record Addressed(
            ZMTPPeer peer, ZMTPMessage message, @Nullable CompletableFuture<Void> result) {}

    private final SocketCore core;

    DirectSends(SocketCore core) {
        this.core = core;
    }

    /** Takes the message over. From any thread. */
    void send(ZMTPPeer peer, ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        if (core.inEventLoop()) {
            sendNow(peer, message, result);
            return;
        }
        if (core.senders().credit().take(message.readableBytes())) {
            core.senders().hand(new Addressed(peer, message, result));
        } else {
            refuse(message, result, MUTE, "more is on its way to the event loop than a peer's queue may have");
        }
    }

    /** Sends what has come to the event loop. */
    void arrived(Addressed sent) {
        core.senders().credit().give(1, sent.message.readableBytes());
        sendNow(sent.peer, sent.message, sent.result);
    }

    /**
     * Sends the answer of a handler. It is not refused if the peer's queue is full: then the peer, which asks and does
     * not read, is not read from until there is room again. Takes the message over. On the event loop.
     */
    void answer(ZMTPPeer peer, ZMTPMessage message) {
        if (peer.isUp() && !peer.isLeaving() && core.config().slowPeer() == ZMTPSlowPeer.WAIT) {
            peer.sendAccepted(message, null);
            peer.readIfThereIsRoom();
        } else {
            sendNow(peer, message, null);
        }
    }

    private void sendNow(ZMTPPeer peer, ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        if (peer.isLeaving() || !(peer.isUp() || peer.mayBeQueuedFor())) {
            refuse(message, result, PEER_DOWN, "the peer has left");
        } else if (peer.send(message, result) == Fate.REFUSED) {
            refuse(message, result, MUTE, "the queue of " + peer.endpoint() + " is full");
        }
    }

    private void refuse(
            ZMTPMessage message,
            @Nullable CompletableFuture<Void> result,
            ZMTPSocketException.Reason reason,
            String text) {
        core.droppedBySocket();
        message.release();
        SendResults.fail(result, reason, text);
    }
}
