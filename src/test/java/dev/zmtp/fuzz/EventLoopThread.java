package dev.zmtp.fuzz;

import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.ExecutionException;

/** A thread of the kind that event loops have: on no other does Netty recycle messages. */
final class EventLoopThread {

    private static final EventExecutor THREAD = new DefaultEventExecutor(new DefaultThreadFactory("fuzz", true));

    private EventLoopThread() {}

    /** Runs {@code target} there, and throws here what it throws. */
    static void run(Runnable target) {
        try {
            THREAD.submit(target).get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw new FuzzFailure("thrown: " + e.getCause(), e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
