package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.SendResults;
import dev.zmtp.socket.ZMTPSocketException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A message that waits for its peer, and the future of its result. */
public final class QueuedMessage {

    /** Null while this object is spare. */
    private @Nullable ZMTPMessage message;

    @Nullable
    public CompletableFuture<Void> result;

    /** What the message asks; null if it is not a request. */
    @Nullable
    public Outgoing request;

    /** The spare one below this, if it is spare itself. Only {@link SendQueue} uses it. */
    @Nullable
    QueuedMessage below;

    public long bytes;
    public long since;

    public QueuedMessage(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        set(message, result, null, 0);
    }

    /** A spare one. */
    public QueuedMessage() {}

    /** Uses this object for another message. */
    void set(ZMTPMessage message, @Nullable CompletableFuture<Void> result, @Nullable Outgoing request, long since) {
        this.message = message;
        this.result = result;
        this.request = request;
        if (request != null) {
            request.queued(this);
        }
        this.bytes = message.readableBytes();
        this.since = since;
    }

    public ZMTPMessage message() {
        return Objects.requireNonNull(message, "a spare one");
    }

    /** Whether it has a message, and is not what a request has left behind that has ended in the queue. */
    boolean isThere() {
        return message != null;
    }

    /** Forgets the message and its result, which were passed on. */
    public void clear() {
        if (request != null) {
            request.queued(null);
        }
        message = null;
        result = null;
        request = null;
    }

    /** Makes a request a message like others, with its envelope, as nobody waits for its answer any more. */
    public void forgetRequest(ZMTPMessage enveloped, @Nullable CompletableFuture<Void> sent) {
        Objects.requireNonNull(request).queued(null);
        message = enveloped;
        result = sent;
        request = null;
    }

    /** Releases the message and reports why it did not leave. */
    public void fail(ZMTPSocketException.Reason reason, String text) {
        message().release();
        SendResults.fail(result, reason, text);
    }
}
