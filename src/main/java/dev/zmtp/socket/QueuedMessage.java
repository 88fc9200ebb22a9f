package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A message that waits for its peer, and the future of its result. */
final class QueuedMessage {

    /** Null while this object is spare. */
    private @Nullable ZMTPMessage message;

    @Nullable
    CompletableFuture<Void> result;

    long bytes;
    long since;

    QueuedMessage(ZMTPMessage message, @Nullable CompletableFuture<Void> result, long since) {
        set(message, result, since);
    }

    /** Uses this object for another message. */
    void set(ZMTPMessage message, @Nullable CompletableFuture<Void> result, long since) {
        this.message = message;
        this.result = result;
        this.bytes = message.readableBytes();
        this.since = since;
    }

    ZMTPMessage message() {
        return Objects.requireNonNull(message, "a spare one");
    }

    /** Forgets the message and its result, which were passed on. */
    void clear() {
        message = null;
        result = null;
    }

    /** Releases the message and reports why it did not leave. */
    void fail(ZMTPSocketException.Reason reason, String text) {
        message().release();
        SendResults.fail(result, reason, text);
    }
}
