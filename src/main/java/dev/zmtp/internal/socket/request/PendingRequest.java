package dev.zmtp.internal.socket.request;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.LoopFuture;
import dev.zmtp.internal.socket.context.ObservedRequest;
import dev.zmtp.internal.socket.context.RequestObservers;
import dev.zmtp.internal.socket.peer.Outgoing;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.QueuedMessage;
import dev.zmtp.socket.ZMTPSocketException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The future of an answer. It is also the task that sends the request. */
final class PendingRequest extends LoopFuture<ZMTPMessage> implements Runnable, Outgoing {

    private final Requests requests;
    final long timeout;

    /**
     * Completed when the request was written. Null except for a request that a REQ {@linkplain StrictRequest sends} in
     * turn.
     */
    final @Nullable CompletableFuture<Void> sent;

    /** Id of the request; 0 if it was not sent yet, or has no id. */
    int id;

    @Nullable
    ZMTPMessage message;

    @Nullable
    Peer peer;

    /** Group in {@link Timeouts}; null if there is none. Only {@code Timeouts} changes it and the next three fields. */
    Timeouts.@Nullable SameTimeout sameTimeout;

    long deadline;

    @Nullable
    PendingRequest before;

    @Nullable
    PendingRequest after;

    /** The next newer request of the peer. Only {@link AskedTable} changes it and the next field. */
    @Nullable
    PendingRequest newer;

    /** The next older request of the peer; the newest one, if this is the oldest. */
    @Nullable
    PendingRequest older;

    /** Place in the queue of the socket; null if the request does not wait there. */
    @Nullable
    QueuedMessage queued;

    /** True if the message has not been sent, or its fate is unknown. There will be no answer. */
    volatile boolean notSent;

    /** Null if the request is not observed. */
    private @Nullable ObservedRequest observed;

    /** Size of the message, which remains known after the message has been sent. */
    final long bytes;

    PendingRequest(Requests requests, ZMTPMessage message, long timeout, @Nullable CompletableFuture<Void> sent) {
        this.requests = requests;
        this.message = message;
        this.bytes = message.readableBytes();
        this.timeout = timeout;
        this.sent = sent;
    }

    /** Called first, as the time of the request begins. */
    void observe(RequestObservers observers) {
        observed = observers.observe();
    }

    /** Notifies the observers, which are user code, of the start and then of the end. Called last. */
    void beginObservation() {
        if (observed != null) {
            observed.begin(this);
        }
    }

    private void ending() {
        if (observed != null && !isDone()) {
            observed.ending();
        }
    }

    @Override
    public ZMTPMessage message() {
        return Objects.requireNonNull(message, "it has left");
    }

    @Override
    public long bytes() {
        return bytes;
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
        requests.accepted(this);
    }

    @Override
    public void passTo(Peer to) {
        requests.pass(this, to);
    }

    @Override
    public void refuse(ZMTPSocketException.Reason reason, String text) {
        requests.refuse(this, reason, text);
    }

    @Override
    public void closeQueued() {
        requests.closeQueued(this);
    }

    /** Returns whether a REQ sends this request in turn. Such a request waits for a peer and has no timeout. */
    boolean isStrict() {
        return sent != null;
    }

    @Override
    public void run() {
        requests.start(this);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        ending();
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        requests.abandoned(this);
        return cancelled;
    }

    @Override
    public boolean complete(ZMTPMessage answer) { // the application can call this
        ending();
        boolean completed = super.complete(answer);
        if (completed) {
            requests.abandoned(this);
        }
        return completed;
    }

    @Override
    public boolean completeExceptionally(Throwable cause) { // orTimeout also calls this
        ending();
        boolean failed = super.completeExceptionally(cause);
        if (failed) {
            requests.abandoned(this);
        }
        return failed;
    }

    @Override
    public CompletableFuture<ZMTPMessage> completeAsync(Supplier<? extends ZMTPMessage> supplier, Executor executor) {
        completeBy(supplier, executor);
        return this;
    }

    @Override
    public void obtrudeValue(ZMTPMessage answer) {
        ending();
        super.obtrudeValue(answer);
        requests.abandoned(this);
    }

    @Override
    public void obtrudeException(Throwable cause) {
        ending();
        super.obtrudeException(cause);
        requests.abandoned(this);
    }
}
