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

    /** Null if the message was a request that has ended in the queue. */
    private @Nullable ZMTPMessage message;

    private @Nullable CompletableFuture<Void> result;

    /** Request that the message belongs to; null if it is not a request. */
    private @Nullable Outgoing request;

    private final long bytes;

    /** Memory of its peer taken by the message, in bytes; 0 if it waits for no particular peer. */
    private long memory;

    private final long since;

    /** Creates a message that waits for no particular peer yet, since this time. */
    public QueuedMessage(ZMTPMessage message, @Nullable CompletableFuture<Void> result, long since) {
        this(message, result, null, message.readableBytes(), since);
    }

    /**
     * @param bytes number of bytes for which the message counts
     * @param since the time when it was queued
     */
    QueuedMessage(
            ZMTPMessage message,
            @Nullable CompletableFuture<Void> result,
            @Nullable Outgoing request,
            long bytes,
            long since) {
        this.message = message;
        this.result = result;
        this.request = request;
        this.bytes = bytes;
        this.since = since;
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

    /**
     * Computes and returns the memory taken by the message, or its share of that if it was queued for several peers.
     * The caller has a reference to such a message.
     */
    long measure() {
        memory = MessageMemory.share(message(), bytes, message().refCnt() - 1);
        return memory;
    }

    /** Computes the share again, which grows as other peers get the message. Returns by how much it has grown. */
    long measureAgain() {
        long grown = Math.max(0, MessageMemory.share(message(), bytes, message().refCnt()) - memory);
        memory += grown;
        return grown;
    }

    /** Returns the memory as last computed. */
    long memory() {
        return memory;
    }

    /** Returns the time when the message was queued. */
    public long since() {
        return since;
    }

    /**
     * Returns whether there is a message. If not, this object is the remainder of a request that has ended in the
     * queue.
     */
    boolean isThere() {
        return message != null;
    }

    /** Called when the message is in the queue. */
    void joined() {
        if (request != null) {
            request.queued(this);
        }
    }

    /** Called when the message is no longer in the queue. */
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

    /** Turns a request into an ordinary message, with its envelope, because its answer is no longer waited for. */
    public void forgetRequest(ZMTPMessage enveloped, @Nullable CompletableFuture<Void> sent) {
        left();
        message = enveloped;
        result = sent;
        request = null;
    }

    /** Releases the message and reports why it was not sent. */
    public void fail(Completions completions, ZMTPSocketException.Reason reason, String text) {
        completions.reject(message(), result, reason, text);
    }
}
