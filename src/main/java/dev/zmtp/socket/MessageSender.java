package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Subscriber that sends what it gets, and requests as much as has been sent. */
final class MessageSender implements Flow.Subscriber<ZMTPMessage> {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.ZMTPFlow");

    /** Maximum number of messages that are on their way. */
    static final int WINDOW = 16;

    private final ZMTPSocket socket;
    private final AtomicReference<Flow.@Nullable Subscription> subscription = new AtomicReference<>();

    /**
     * Number of messages to request. It is zero if no thread is calling the subscription, whose calls must be serial
     * although futures complete on several threads.
     */
    private final AtomicInteger owed = new AtomicInteger();

    /** True if the subscription has to be cancelled. */
    private volatile boolean failed;

    /** True if the publisher has ended. */
    private volatile boolean ended;

    /** Guarded by {@link #owed}. */
    private boolean cancelled;

    MessageSender(ZMTPSocket socket) {
        this.socket = socket;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        Objects.requireNonNull(given, "subscription");
        if (subscription.compareAndSet(null, given)) {
            request(WINDOW);
        } else {
            given.cancel();
        }
    }

    @Override
    public void onNext(ZMTPMessage message) {
        Objects.requireNonNull(message, "message");
        if (failed) {
            ReferenceCountUtil.safeRelease(message);
            return;
        }
        try {
            socket.sendAsync(message).whenComplete((sent, failure) -> {
                if (failure != null) {
                    fail(failure);
                } else {
                    request(1);
                }
            });
        } catch (RuntimeException e) { // the socket has refused and released it
            fail(e);
        }
    }

    @Override
    public void onError(Throwable failure) {
        Objects.requireNonNull(failure, "failure");
        logger.debug("{}: the publisher failed, nothing more is sent", socket, failure);
        ended = true;
    }

    @Override
    public void onComplete() {
        ended = true;
    }

    private void fail(Throwable failure) {
        if (!failed && !isClosed(failure)) {
            logger.warn("{}: a message was not sent, the subscription is cancelled", socket, failure);
        }
        failed = true;
        request(1);
    }

    private static boolean isClosed(Throwable failure) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        return cause instanceof ZMTPSocketException of && of.reason() == ZMTPSocketException.Reason.CLOSED;
    }

    /** Requests messages, or cancels after a failure. From any thread. */
    private void request(int n) {
        Flow.Subscription from = subscription.get();
        if (from == null || owed.getAndAdd(n) != 0) {
            return;
        }
        int asked = owed.get();
        do {
            if (!failed && !ended) {
                from.request(asked);
            } else if (failed && !ended && !cancelled) {
                cancelled = true;
                from.cancel();
            }
            asked = owed.addAndGet(-asked);
        } while (asked != 0);
    }
}
