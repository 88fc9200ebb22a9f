package dev.zmtp.internal.socket.context;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocketException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Completes the results of sends, which are null if the sender does not want them. */
public final class SendResults {

    private SendResults() {}

    public static void succeed(@Nullable CompletableFuture<Void> result) {
        if (result != null) {
            result.complete(null);
        }
    }

    /** Releases a message that does not leave, and fails its result. */
    public static void reject(
            ZMTPMessage message,
            @Nullable CompletableFuture<Void> result,
            ZMTPSocketException.Reason reason,
            String text) {
        if (message.refCnt() > 0) { // the application may have released it, which must not stop what this is part of
            message.release();
        }
        fail(result, reason, text);
    }

    public static void fail(@Nullable CompletableFuture<?> result, ZMTPSocketException.Reason reason, String text) {
        if (result != null) {
            result.completeExceptionally(new ZMTPSocketException(reason, text));
        }
    }
}
