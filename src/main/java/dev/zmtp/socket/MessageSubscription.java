package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.LoopBudget;
import io.netty.channel.EventLoop;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Subscription that receives a message whenever there is demand. Everything that the subscriber gets comes from
 * {@link #run}, which never runs twice at a time and never within itself. So the signals are serial, and a subscriber
 * that requests a message in each signal does not fill the stack.
 */
final class MessageSubscription implements Flow.Subscription, Runnable {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.ZMTPFlow");

    private final ZMTPSocket socket;
    private final EventLoop eventLoop;
    private final MessagePublisher publisher;
    private final AtomicLong demand = new AtomicLong();

    /** Number of reasons to run since the current run began, including that run; zero if nothing runs. */
    private final AtomicInteger runs = new AtomicInteger();

    private volatile boolean cancelled;

    /** Failure that a call has caused. */
    private volatile @Nullable Throwable refusal;

    /** Future of the next message; null if there was no demand. Written by the run only. */
    private volatile @Nullable CompletableFuture<ZMTPMessage> next;

    /** True if the socket is closed, and nothing can be received. */
    private volatile boolean closed;

    // In the run

    /** Null at the end, because a subscriber that has cancelled must be garbage. */
    private Flow.@Nullable Subscriber<? super ZMTPMessage> subscriber;

    /** Calls the run when the socket is closed; null before the subscriber knows its subscription. */
    private @Nullable ZMTPRegistration whenClosed;

    MessageSubscription(
            ZMTPSocket socket, MessagePublisher publisher, Flow.Subscriber<? super ZMTPMessage> subscriber) {
        this.socket = socket;
        this.eventLoop = socket.eventLoop();
        this.publisher = publisher;
        this.subscriber = subscriber;
    }

    // From any thread

    /** Fails the subscriber, after it has got its subscription. */
    void refuse(Throwable cause) {
        refusal = cause;
    }

    @Override
    public void request(long n) {
        if (n <= 0) {
            refuse(new IllegalArgumentException("n: " + n + " (expected: >= 1)"));
        } else {
            demand.accumulateAndGet(n, (a, b) -> a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b);
        }
        proceed();
    }

    @Override
    public void cancel() {
        if (cancelled) {
            return;
        }
        cancelled = true;
        CompletableFuture<ZMTPMessage> waiting = next;
        if (waiting != null) {
            waiting.cancel(false); // now, because the caller can receive next
        }
        publisher.ended(this);
        proceed();
    }

    /** Runs later on the event loop, so that a subscriber can subscribe again in a signal any number of times. */
    void start() {
        runs.incrementAndGet();
        execute();
    }

    /** Runs on the event loop, now if this is the event loop. */
    private void proceed() {
        if (runs.getAndIncrement() != 0) {
            return;
        }
        if (eventLoop.inEventLoop()) {
            run();
        } else {
            execute();
        }
    }

    private void execute() {
        try {
            eventLoop.execute(this);
        } catch (RejectedExecutionException e) { // the loop has ended, and the subscriber must hear of that
            run();
        } catch (OutOfMemoryError e) { // the next call tries again
            runs.set(0);
            throw e;
        }
    }

    // In the run

    @Override
    public void run() {
        int seen = runs.get();
        do {
            while (signal()) {
                if (continueLater()) {
                    return;
                }
            }
            seen = runs.addAndGet(-seen);
        } while (seen != 0);
    }

    /** Lets other tasks of the event loop run. Returns false if the loop has ended, or has no memory for the task. */
    private boolean continueLater() {
        try {
            eventLoop.execute(this);
            return true;
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            return false;
        }
    }

    /** Signals a limited number of messages. Returns whether there are more. */
    private boolean signal() {
        Flow.Subscriber<? super ZMTPMessage> to = subscriber;
        if (to == null) {
            return false;
        }
        try {
            if (whenClosed == null) {
                begin(to);
            }
            for (int left = LoopBudget.MESSAGES; subscriber != null && !isWaiting(); left--) {
                if (left == 0) {
                    return true;
                }
                step(to);
            }
        } catch (Throwable e) {
            logger.warn("A subscriber failed, its subscription is cancelled", e);
            cancel();
            proceed(); // for the end, which comes in the next round of the run
        }
        return false;
    }

    private void begin(Flow.Subscriber<? super ZMTPMessage> to) {
        whenClosed = () -> {}; // before user code, which can throw
        to.onSubscribe(this);
        if (refusal == null) {
            whenClosed = socket.onWritable(this::checkClosed);
            checkClosed(); // because the action is never called if the socket was closed before
        }
    }

    /**
     * Finds out whether the socket is closed. This is asked after each call of a listener for room, which is also
     * called at the end.
     */
    private void checkClosed() {
        if (!closed) {
            socket.whenPeers(0).whenComplete((none, failure) -> {
                if (failure != null) {
                    closed = true;
                    proceed();
                }
            });
        }
    }

    /** Returns whether nothing can be done before the next call, message or close. */
    private boolean isWaiting() {
        CompletableFuture<ZMTPMessage> waiting = next;
        if (waiting != null) {
            if (isEnding()) {
                waiting.cancel(false);
            }
            return !waiting.isDone();
        }
        return !isEnding() && demand.get() == 0 && !closed;
    }

    private boolean isEnding() {
        return cancelled || refusal != null;
    }

    private void step(Flow.Subscriber<? super ZMTPMessage> to) {
        CompletableFuture<ZMTPMessage> received = next;
        Throwable failure = refusal;
        if (received != null) {
            next = null;
            pass(received, to);
        } else if (cancelled) {
            end();
        } else if (failure != null) {
            end();
            to.onError(failure);
        } else if (closed) {
            end();
            to.onComplete();
        } else {
            receive();
        }
    }

    private void receive() {
        CompletableFuture<ZMTPMessage> received = socket.receiveAsync();
        next = received;
        if (cancelled) { // by a thread that may not have seen the future
            received.cancel(false);
        }
        if (!received.isDone()) {
            received.whenComplete((message, failure) -> proceed());
        }
    }

    /** Passes a message to the subscriber, even if it has cancelled meanwhile, because it would otherwise be lost. */
    private void pass(CompletableFuture<ZMTPMessage> received, Flow.Subscriber<? super ZMTPMessage> to) {
        if (!received.isCompletedExceptionally()) {
            demand.updateAndGet(n -> n == Long.MAX_VALUE ? n : n - 1);
            to.onNext(received.join());
        } else if (!isEnding()) { // otherwise it was cancelled, or nobody asks why it failed
            received.whenComplete((none, cause) -> fail(cause, to));
        }
    }

    private void fail(Throwable cause, Flow.Subscriber<? super ZMTPMessage> to) {
        end();
        if (cause instanceof ZMTPSocketException of && of.reason() == ZMTPSocketException.Reason.CLOSED) {
            to.onComplete();
        } else {
            to.onError(cause);
        }
    }

    private void end() {
        subscriber = null;
        ZMTPRegistration registration = whenClosed;
        if (registration != null) {
            registration.close();
        }
        publisher.ended(this);
    }
}
