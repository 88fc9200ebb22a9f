package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.memory.MessageMemory;
import dev.zmtp.internal.socket.context.Completions;
import dev.zmtp.socket.ZMTPSocketException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A message that waits for its peer, and the future of its result. */
public final class QueuedMessage {

    /** Null if it was a request that has ended in the queue. */
    private @Nullable ZMTPMessage message;

    private @Nullable CompletableFuture<Void> result;

    /** What the message asks; null if it is not a request. */
    private @Nullable Outgoing request;

    private final long bytes;

    /** What it takes of the memory of its peer; 0 if it waits for no peer in particular. */
    private long memory;

    private final long since;

    public QueuedMessage(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        this(message, result, null, 0);
    }

    /** @param since when it was queued */
    QueuedMessage(
            ZMTPMessage message, @Nullable CompletableFuture<Void> result, @Nullable Outgoing request, long since) {
        this.message = message;
        this.result = result;
        this.request = request;
        this.bytes = message.readableBytes();
        this.since = since;
        if (request != null) {
            request.queued(this);
        }
    }

    public ZMTPMessage message() {
        return Objects.requireNonNull(message, "it has ended");
    }

    public @Nullable CompletableFuture<Void> result() {
        return result;
    }

    public @Nullable Outgoing request() {
        return request;
    }

    public long bytes() {
        return bytes;
    }

    /** Computes and returns the memory that it takes; its share of that if it was queued for several peers. */
    long measure() {
        memory = MessageMemory.share(message(), bytes);
        return memory;
    }

    /** Returns what {@link #measure} did. */
    long memory() {
        return memory;
    }

    /** Returns when it was queued. */
    public long since() {
        return since;
    }

    /** Whether it has a message, and is not what a request has left behind that has ended in the queue. */
    boolean isThere() {
        return message != null;
    }

    /** It is no longer in the queue. */
    void left() {
        if (request != null) {
            request.queued(null);
        }
    }

    /** Forgets the request, which has ended in the queue. */
    void end() {
        left();
        message = null;
        request = null;
    }

    /** Makes a request a message like others, with its envelope, as nobody waits for its answer any more. */
    public void forgetRequest(ZMTPMessage enveloped, @Nullable CompletableFuture<Void> sent) {
        left();
        message = enveloped;
        result = sent;
        request = null;
    }

    /** Releases the message and reports why it did not leave. */
    public void fail(Completions completions, ZMTPSocketException.Reason reason, String text) {
        completions.reject(message(), result, reason, text);
    }
}
