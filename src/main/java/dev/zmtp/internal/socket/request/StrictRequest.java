package dev.zmtp.internal.socket.request;

import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.ILLEGAL_STATE;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.LoopFuture;
import dev.zmtp.internal.socket.context.ReceivingFuture;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.context.Waiting;
import dev.zmtp.internal.socket.send.Senders;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.util.ReferenceCountUtil;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A REQ that sends and receives in turn (RFC 28), first a request, then its answer. Used from any thread. */
public final class StrictRequest {

    /** Stands for an answer that was passed to its receiver. */
    private static final Object TAKEN = new Object();

    private static final String NOT_RECEIVED = "send: the answer to the last request was not received";

    private final SocketContext context;
    private final Senders senders;
    private final Requests requests;

    /** Request that was sent and whose answer was not received; null if the next request can be sent. */
    private final AtomicReference<@Nullable Asked> current = new AtomicReference<>();

    public StrictRequest(SocketContext context, Senders senders, Requests requests) {
        this.context = context;
        this.senders = senders;
        this.requests = requests;
    }

    /** Returns whether the next step is a send. */
    public boolean maySend() {
        Asked last = current.get();
        return last == null || last.wasNotSent();
    }

    /** Takes ownership of the message. */
    public CompletableFuture<Void> send(ZMTPMessage message) {
        CompletableFuture<Void> sent = new LoopFuture<>();
        if (!asked(message, sent)) {
            drop(message);
            context.completions().fail(sent, ILLEGAL_STATE, NOT_RECEIVED);
        }
        return sent;
    }

    /** Sends the message if it is the socket's turn to send; otherwise it still belongs to the caller. */
    public boolean trySend(ZMTPMessage message) {
        return asked(message, new LoopFuture<>());
    }

    /** Takes ownership of the message, unless it is not the socket's turn to send, and this returns false. */
    private boolean asked(ZMTPMessage message, CompletableFuture<Void> sent) {
        Asked asked = new Asked();
        Asked last = last();
        if (!current.compareAndSet(last, asked)) {
            return false;
        }
        if (last != null) { // the peer might have answered what it has read of the request
            Objects.requireNonNull(last.answer).thenAccept(ZMTPMessage::release);
        }
        PendingRequest answer = requests.ask(message, sent);
        asked.answer = answer;
        answer.whenComplete((received, failure) -> settle(asked));
        return true;
    }

    private void drop(ZMTPMessage message) {
        context.tally().dropped();
        ReferenceCountUtil.safeRelease(message);
    }

    /**
     * Like {@link #send}. Failures known at once are thrown. The receiver of the answer is notified of all later
     * failures.
     */
    public void sendAndForget(ZMTPMessage message) {
        ZMTPSocketException refusal = null;
        if (context.isClosed()) {
            refusal = new ZMTPSocketException(CLOSED, "the socket is closed");
            drop(message);
        } else if (!asked(message, new LoopFuture<>())) {
            drop(message);
            refusal = new ZMTPSocketException(ILLEGAL_STATE, NOT_RECEIVED);
        }
        if (refusal != null) {
            throw refusal.withStackTrace();
        }
    }

    /**
     * Returns the last request if its send has failed and its answer is not waited for, so that the next can replace
     * it.
     */
    private @Nullable Asked last() {
        Asked last = current.get();
        return last != null && last.wasNotSent() && last.receiver.compareAndSet(null, TAKEN) ? last : null;
    }

    public CompletableFuture<ZMTPMessage> receive() {
        Asked asked = current.get();
        Receiving receiving = asked == null ? null : new Receiving(asked);
        if (receiving == null || !receiving.asked.receiver.compareAndSet(null, receiving)) {
            CompletableFuture<ZMTPMessage> refused = new LoopFuture<>();
            context.completions().fail(refused, refusal(asked));
            return refused;
        }
        settle(receiving.asked);
        return receiving;
    }

    /** Returns the answer if it has arrived; null if it is still awaited. */
    public @Nullable ZMTPMessage tryReceive() {
        Asked asked = current.get();
        if (asked == null || asked.receiver.get() != null) {
            throw refusal(asked);
        }
        PendingRequest answer = asked.answer;
        if (answer == null || !answer.isDone()) {
            return null;
        }
        if (!asked.receiver.compareAndSet(null, TAKEN)) {
            throw refusal(asked);
        }
        current.compareAndSet(asked, null);
        senders.writability().turned();
        return Waiting.done(answer);
    }

    private ZMTPSocketException refusal(@Nullable Asked asked) {
        if (context.isClosed()) {
            return new ZMTPSocketException(CLOSED, "the socket is closed");
        }
        String why = asked == null ? "no request was sent" : "another receive waits";
        return new ZMTPSocketException(ILLEGAL_STATE, "receive: " + why);
    }

    /**
     * Passes the answer to its receiver. Called when the answer or failure is known, and when a receiver is set. The
     * later of the two calls has an effect.
     */
    private void settle(Asked asked) {
        PendingRequest answer = asked.answer;
        if (answer == null || !answer.isDone()) {
            return;
        }
        Object receiver = asked.receiver.get();
        if (receiver instanceof Receiving receiving) {
            if (asked.receiver.compareAndSet(receiving, TAKEN)) {
                current.compareAndSet(asked, null); // before the receiver, which can send at once
                answer.whenComplete(receiving::end);
                senders.writability().turned();
            }
        } else if (receiver == null && context.isClosed() && asked.receiver.compareAndSet(null, TAKEN)) {
            answer.thenAccept(ZMTPMessage::release); // it can no longer be received
        }
    }

    /** Releases an answer that was not received, because the socket is closed. */
    public void close() {
        Asked asked = current.get();
        if (asked != null) {
            settle(asked);
        }
    }

    private static final class Asked {
        volatile @Nullable PendingRequest answer;

        /** The {@link Receiving}, null if there is none, or {@link #TAKEN}. */
        final AtomicReference<@Nullable Object> receiver = new AtomicReference<>();

        boolean wasNotSent() {
            PendingRequest its = answer;
            return its != null && its.notSent;
        }
    }

    /** The future of an answer. If it is completed in another way, the answer is given to the next receiver. */
    private final class Receiving extends ReceivingFuture<ZMTPMessage> {
        private final Asked asked;

        Receiving(Asked asked) {
            this.asked = asked;
        }

        void end(@Nullable ZMTPMessage message, @Nullable Throwable failure) {
            if (message != null) {
                received(message);
            } else {
                failed(Objects.requireNonNull(failure, "failure"));
            }
        }

        @Override
        protected boolean giveUp() {
            return asked.receiver.compareAndSet(this, null);
        }

        @Override
        protected void attempted() {
            settle(asked); // the socket might have been closed in the meantime
        }
    }
}
