package dev.zmtp.internal.socket.request;

import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;
import static dev.zmtp.socket.ZMTPSocketException.Reason.ILLEGAL_STATE;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.LoopFuture;
import dev.zmtp.internal.socket.context.ReceivingFuture;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.receive.Inbox;
import dev.zmtp.internal.socket.receive.Polled;
import dev.zmtp.internal.socket.receive.Taker;
import dev.zmtp.internal.socket.send.Senders;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A REP that receives and sends in turn (RFC 28), first a request, then its answer. Used from any thread. */
public final class StrictReply {

    /** State in which no request is awaited or has been received. */
    private static final Object IDLE = new Object();

    /** State in which a thread checks for a request. */
    private static final Object BUSY = new Object();

    private static final String NOT_ANSWERED = "receive: the last request was not answered";
    private static final String NO_REQUEST = "send: no request was received";

    private final SocketContext context;
    private final Senders senders;
    private final Inbox inbox;

    /** {@link #IDLE}, {@link #BUSY}, the {@link Receiving} of a request, or the {@link ServedRequest} to answer. */
    private final AtomicReference<Object> state = new AtomicReference<>(IDLE);

    public StrictReply(SocketContext context, Senders senders, Inbox inbox) {
        this.context = context;
        this.senders = senders;
        this.inbox = inbox;
    }

    public CompletableFuture<ZMTPMessage> receive() {
        Receiving receiving = new Receiving();
        if (state.compareAndSet(IDLE, receiving)) {
            inbox.take(receiving);
            return receiving;
        }
        CompletableFuture<ZMTPMessage> refused = new LoopFuture<>();
        context.completions().fail(refused, ILLEGAL_STATE, NOT_ANSWERED);
        return refused;
    }

    /** Returns the next request; null if there is none. */
    public @Nullable ZMTPMessage tryReceive() {
        if (!state.compareAndSet(IDLE, BUSY)) {
            throw new ZMTPSocketException(ILLEGAL_STATE, maySend() ? NOT_ANSWERED : "receive: another receive waits");
        }
        ServedRequest request = null;
        try {
            Polled next = Polled.poll(inbox);
            request = next == null ? null : served(next.peer(), next.occupant(), next.message());
        } finally {
            state.set(request == null ? IDLE : request);
        }
        if (request == null) {
            return null;
        }
        senders.writability().turned();
        return request.message();
    }

    private ServedRequest served(Peer from, int occupant, ZMTPMessage message) {
        return ServedRequest.of(senders.directly(), from, occupant, message, Envelope.length(message), null);
    }

    /** Returns whether the next step is a send. */
    public boolean maySend() {
        return state.get() instanceof ServedRequest;
    }

    /** Takes ownership of the message. */
    public CompletableFuture<Void> send(ZMTPMessage answer) {
        CompletableFuture<Void> result = new LoopFuture<>();
        ServedRequest request = takeTurn();
        if (request == null) {
            context.tally().dropped();
            context.completions().reject(answer, result, ILLEGAL_STATE, NO_REQUEST);
        } else {
            request.answer(answer, result);
        }
        return result;
    }

    /** Returns true if the answer was accepted. If it is dropped later, that is reported as an event. */
    public boolean trySend(ZMTPMessage answer) {
        ServedRequest request = takeTurn();
        if (request == null) {
            return false;
        }
        request.answer(answer, null);
        return true;
    }

    /**
     * Like {@link #send}, and waits for room on the way to the event loop. If it fails, it is the
     * socket's turn to send again, unless the peer has left or its queue is full.
     */
    public void sendAndWait(ZMTPMessage answer, @Nullable Duration timeout) throws InterruptedException {
        Object now = state.get();
        if (!(now instanceof ServedRequest request) || !state.compareAndSet(request, BUSY)) {
            context.tally().dropped();
            ReferenceCountUtil.safeRelease(answer);
            throw new ZMTPSocketException(ILLEGAL_STATE, NO_REQUEST).withStackTrace();
        }
        Object next = request;
        try {
            senders.blocking()
                    .answer(
                            request.from(),
                            request.occupant(),
                            answer,
                            request.envelopeLength(),
                            request::enveloped,
                            timeout);
            next = IDLE;
        } catch (ZMTPSocketException e) { // an asker that has left, or does not read, must not end the service
            next = e.reason() == PEER_DOWN || e.reason() == FULL ? IDLE : request;
            throw e;
        } finally {
            state.set(next);
            if (next == request) {
                senders.writability().turned();
            }
        }
    }

    /** Removes and returns the request to answer; null if there is none. */
    private @Nullable ServedRequest takeTurn() {
        Object now = state.get();
        return now instanceof ServedRequest request && state.compareAndSet(request, IDLE) ? request : null;
    }

    /** The future of a request. If it is completed in another way, the request is given to the next receiver. */
    private final class Receiving extends ReceivingFuture<ZMTPMessage> implements Taker {

        @Override
        public boolean take(Peer from, int occupant, ZMTPMessage message) {
            message.retain(); // it is put back whole if this receive has ended
            ServedRequest request;
            try {
                request = served(from, occupant, message);
            } catch (Throwable e) { // there is no memory for the envelope
                if (!state.compareAndSet(this, IDLE)) {
                    return false;
                }
                ReferenceCountUtil.safeRelease(message);
                failed(e); // now, because nobody else has this future
                return true;
            }
            if (state.compareAndSet(this, request)) {
                ReferenceCountUtil.safeRelease(message);
                received(request.message());
                senders.writability().turned();
                return true;
            }
            ReferenceCountUtil.safeRelease(request.message());
            return false;
        }

        @Override
        public void fail(ZMTPSocketException cause) {
            context.completions().fail(this, cause);
        }

        @Override
        protected boolean giveUp() {
            inbox.forget(this);
            return state.compareAndSet(this, IDLE);
        }
    }
}
