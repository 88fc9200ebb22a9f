package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocketException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A request that notes what happens to it. */
public final class RecordedOutgoing implements Outgoing {

    public final CompletableFuture<ZMTPSocketException.Reason> refused = new CompletableFuture<>();
    private final ZMTPMessage message;
    private @Nullable QueuedMessage queued;

    public RecordedOutgoing(ZMTPMessage message) {
        this.message = message;
    }

    @Override
    public ZMTPMessage message() {
        return message;
    }

    @Override
    public long bytes() {
        return message.readableBytes();
    }

    @Override
    public @Nullable QueuedMessage queued() {
        return queued;
    }

    @Override
    public void queued(@Nullable QueuedMessage place) {
        queued = place;
    }

    @Override
    public void accepted() {
        throw new AssertionError("accepted");
    }

    @Override
    public void passTo(Peer peer) {
        throw new AssertionError("passed to " + peer);
    }

    @Override
    public void refuse(ZMTPSocketException.Reason reason, String text) {
        message.release();
        refused.complete(reason);
    }

    @Override
    public void closeQueued() {
        throw new AssertionError("closed");
    }
}
