package dev.zmtp.testing;

import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;

/** For calls that wait, which the thread of a test loop may not, and for those that another thread makes. */
public final class OtherThread {

    private OtherThread() {}

    /** Makes the call on a thread of its own, waits for its end, and throws what it has thrown. */
    public static void call(ThrowingCallable call) throws Throwable {
        CompletableFuture<@Nullable Throwable> ended = new CompletableFuture<>();
        new Thread(() -> {
                    try {
                        call.call();
                        ended.complete(null);
                    } catch (Throwable e) {
                        ended.complete(e);
                    }
                })
                .start();
        Throwable thrown = TestSockets.get(ended);
        if (thrown != null) {
            throw thrown;
        }
    }
}
