package dev.zmtp.internal.socket.request;

import static dev.zmtp.internal.socket.context.PeerCounters.Counter.LATE;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.EXPIRED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;
import static dev.zmtp.socket.ZMTPSocketException.Reason.ILLEGAL_STATE;
import static dev.zmtp.socket.ZMTPSocketException.Reason.MALFORMED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.NO_PEER;
import static dev.zmtp.socket.ZMTPSocketException.Reason.OUTCOME_UNKNOWN;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.socket.ZMTPSocketException.Reason.TIMEOUT;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.runtime.AfterReads;
import dev.zmtp.internal.socket.context.Settings;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Outgoing;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.Peers;
import dev.zmtp.internal.socket.receive.Reception;
import dev.zmtp.internal.socket.send.RoundRobin;
import dev.zmtp.internal.socket.send.Senders;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a REQ or DEALER that wait for their answers. An answer is accepted only from the peer that got the
 * request.
 * <p>A request of a DEALER has an id of 4 bytes as the first frame of its envelope, like libzmq's REQ_CORRELATE. Its
 * answer has the same id, because a REP and any service behind a ROUTER return the envelope.
 * <p>A request of a REQ has no id unless it is enabled in the config, because many services expect the empty frame
 * first. The next message of its peer is then the answer. Therefore a peer has a single such request at a time. If it
 * does not answer in time, its connection is closed, so that a late answer is not taken for that to the next request.
 */
public final class Requests {

    private static final String RELEASED = "the message was released while it waited";

    /** Bits of an id that count up. Each id occurs once in 2^24 requests. */
    private static final int COUNTED = 0xFF_FFFF;

    /** First byte of all our ids, so that the first frames of other programs are seldom taken for ids. */
    private final int salt;

    private final SocketContext context;
    private final Senders senders;
    /** Null if the type makes no requests. */
    private final @Nullable RoundRobin shared;

    private final Peers peers;
    private final Outstanding outstanding;
    private final Timeouts timeouts;

    /** True if requests have ids. */
    private final boolean correlates;

    // On the event loop
    private final AskedTable asked;

    private final Unsent unsent;
    private final PeersInTurn inTurn;

    private boolean closed;

    public Requests(SocketContext context, Senders senders, @Nullable RoundRobin shared, Peers peers) {
        this.context = context;
        this.senders = senders;
        this.shared = shared;
        this.outstanding = new Outstanding(context, senders.writability());
        this.peers = peers;
        this.timeouts = new Timeouts(context, this::timedOut);
        this.inTurn = new PeersInTurn(context, this::freed);
        this.unsent = new Unsent(context, senders::ask, request -> refuse(request, EXPIRED, context.tooOld()));
        this.correlates =
                context.type() != ZMTPSocketType.REQ || context.config().correlateRequests();
        this.salt = (int) context.random() & ~COUNTED;
        this.asked = new AskedTable(COUNTED, (int) context.random());
    }

    private RoundRobin routing() {
        return Objects.requireNonNull(shared, "it asks");
    }

    // From any thread

    public CompletableFuture<ZMTPMessage> ask(ZMTPMessage message, Duration timeout) {
        return ask(new PendingRequest(this, message, Settings.nanos(timeout), null));
    }

    /** Sends a request of a REQ in turn. There is a single such request at a time. */
    public PendingRequest ask(ZMTPMessage message, CompletableFuture<Void> sent) {
        return ask(new PendingRequest(this, message, Long.MAX_VALUE, sent));
    }

    private PendingRequest ask(PendingRequest request) {
        request.observe(context.requestObservers());
        if (context.inEventLoop()) {
            senders.writability().sentHere();
        }
        if (!outstanding.enter()) {
            String max = "outstanding requests: " + outstanding.max();
            refuse(request, FULL, max + " (expected: fewer, see maxOutstandingRequests)");
        } else if (context.isClosed()) {
            refuse(request, CLOSED, "the socket is closed");
        } else if (context.inEventLoop()) {
            start(request);
        } else if (!senders.ask(request)) {
            noRoom(request);
        }
        request.beginObservation();
        return request;
    }

    /** Refuses the request, except that a request which a REQ sends in turn waits for a peer. */
    private void noRoom(PendingRequest request) {
        if (!request.isStrict()) {
            boolean reachable = routing().isReachable();
            refuse(request, reachable ? FULL : NO_PEER, reachable ? "the queue is full" : "there is no peer");
        } else if (!context.tryExecute(request)) {
            refuse(request, CLOSED, "the event loop has ended");
        }
    }

    /** Fails a request whose message was not passed to a peer. */
    void refuse(PendingRequest request, ZMTPSocketException.Reason reason, String text) {
        release(request);
        request.notSent = true; // first, because a listener of the failure can make a request again
        context.completions().fail(request, reason, text);
        context.completions().fail(request.sent, reason, text);
    }

    private void release(PendingRequest request) {
        ZMTPMessage message = request.message;
        if (message != null) {
            request.message = null;
            outstanding.leave();
            context.tally().dropped();
            ReferenceCountUtil.safeRelease(message);
        }
    }

    int outstanding() {
        return outstanding.get();
    }

    /** Returns the number of requests without a place in a queue. From any thread. */
    public int waiting() {
        return unsent.hasMessages() ? 1 : 0;
    }

    /** Called when the answer is no longer waited for. */
    void abandoned(PendingRequest request) {
        context.executeAnyway(() -> abandon(request));
    }

    /** A request without an id keeps its peer until the answer has arrived, or until its timeout, if any. */
    private void abandon(PendingRequest request) {
        Peer peer = request.peer;
        if (peer == null || correlates) {
            end(request);
        } else if (request.timeout == Long.MAX_VALUE) {
            end(request);
            peer.disconnect("a request without a timeout was cancelled");
        }
    }

    // On the event loop

    /** Sends a request that was made here, or a request that a REQ sent in turn and that found no peer at first. */
    void start(PendingRequest request) {
        if (closed) {
            refuse(request, CLOSED, "the socket is closed");
            return;
        }
        timeouts.add(request);
        if (senders.ask(request)) {
            return;
        }
        if (request.isStrict()) {
            unsent.set(request);
        } else {
            noRoom(request);
        }
    }

    /** Sends a request of another thread, for which there is room. */
    void accepted(PendingRequest request) {
        if (request.message == null) { // it has ended on its way
            senders.credit().give(1, request.bytes);
        } else if (closed) {
            senders.credit().give(1, request.bytes);
            refuse(request, CLOSED, "the socket is closed");
        } else {
            timeouts.add(request);
            routing().routeAccepted(request);
        }
    }

    /** Passes the request to the transport of the peer. */
    void pass(PendingRequest request, Peer peer) {
        ZMTPMessage message = enveloped(request);
        if (message == null) {
            refuse(request, ILLEGAL_STATE, RELEASED);
            return;
        }
        request.message = null;
        request.peer = peer;
        if (correlates) {
            asked.add(peer, request);
        } else {
            peer.awaited(request);
        }
        peer.outbound().pass(message, request.sent == null ? null : new Passed(request, request.sent));
    }

    /** The fate of a request that a REQ sent in turn. If no answer will come, its peer is free for the next request. */
    private final class Passed extends CompletableFuture<Void> {
        private final PendingRequest request;
        private final CompletableFuture<Void> sent;

        Passed(PendingRequest request, CompletableFuture<Void> sent) {
            this.request = request;
            this.sent = sent;
        }

        @Override
        public boolean complete(Void done) {
            return sent.complete(null);
        }

        @Override
        public boolean completeExceptionally(Throwable cause) {
            request.notSent = true; // first, because a listener of the failure can make a request again
            Peer its = request.peer;
            boolean unknown = cause instanceof ZMTPSocketException e && e.reason() == OUTCOME_UNKNOWN;
            if (its != null && !unknown) { // otherwise the connection has ended, which ends the request
                end(request);
                request.completeExceptionally(cause);
                routing().becameWritable(its);
                context.capacityFreed();
            }
            return sent.completeExceptionally(cause);
        }
    }

    /** Returns the message to send; null if its sender has released it. */
    private @Nullable ZMTPMessage enveloped(PendingRequest request) {
        if (!correlates) {
            return Envelope.enveloped(request.message(), Unpooled.EMPTY_BUFFER);
        }
        request.id = salt | asked.next();
        return Envelope.enveloped(request.message(), Envelope.id(request.id), Unpooled.EMPTY_BUFFER);
    }

    /** Called when there might be room. */
    public void capacityFreed() {
        unsent.dropOld(1);
        unsent.serve();
    }

    /** Removes the entry, however the request has ended. A second call has no effect. */
    private void end(PendingRequest request) {
        timeouts.remove(request);
        if (request.message != null) {
            boolean wasQueued = request.queued != null;
            routing().forget(request);
            release(request);
            if (wasQueued) { // later, because this can be in the middle of a loop over such requests
                context.execute(context::capacityFreed);
            }
        } else if (request.peer != null) {
            Peer its = request.peer;
            request.peer = null;
            outstanding.leave();
            if (correlates) {
                asked.remove(its, request);
            } else {
                its.awaited(null);
            }
        }
    }

    private void timedOut(PendingRequest request) {
        Peer peer = request.peer;
        end(request); // even if the application has completed it
        String text = "no answer within " + Duration.ofNanos(request.timeout);
        Peer away = peer == null && peers.connected().there() == 0 ? anyPeer() : null;
        if (away != null) {
            text += ": " + away.endpointText() + " is down";
        } else if (peer == null) {
            text += ": no peer had room for the request";
        }
        if (peer != null && !correlates) {
            peer.disconnect(text); // first, because the caller can make a request again, but not to this peer
        }
        Throwable why = away == null ? null : away.lastFailure();
        context.completions().fail(request, new ZMTPSocketException(TIMEOUT, text, why));
    }

    private @Nullable Peer anyPeer() {
        return peers.all().stream().findAny().orElse(null);
    }

    /** Takes an answer with an id, which can be late. Returns whether the message was such an answer, and was taken. */
    boolean answered(Peer from, ZMTPMessage message) {
        if (!correlates
                || message.size() < 3
                || !isOurs(message.frame(0))
                || message.frame(1).isReadable()) {
            return false;
        }
        ByteBuf id = message.frame(0);
        PendingRequest request = asked.get(id.getInt(id.readerIndex()));
        if (request == null) {
            from.counters().add(LATE, 1);
            ReferenceCountUtil.safeRelease(message);
        } else if (request.peer != from) {
            Reception.malformed(from, message);
        } else {
            end(request);
            complete(request, message.removeFirst(2));
        }
        return true;
    }

    private boolean isOurs(ByteBuf id) {
        if (id.readableBytes() != Integer.BYTES) {
            return false;
        }
        int its = id.getInt(id.readerIndex());
        return (its & ~COUNTED) == salt && asked.wasGiven(its); // or it is part of another program's envelope
    }

    /** Handles an answer to the request without an id. Takes ownership of the message. */
    void answeredUncorrelated(Peer from, ZMTPMessage message) {
        PendingRequest request = PeersInTurn.awaited(from);
        if (request == null) {
            from.counters().add(LATE, 1); // RFC 28: it is discarded without an error
            ReferenceCountUtil.safeRelease(message);
            return;
        }
        end(request);
        if (request.isDone()) {
            from.counters().add(LATE, 1);
        }
        inTurn.answered(from, request);
        complete(request, message.removeFirst(1));
    }

    private void freed(Peer peer) {
        routing().becameWritable(peer);
        context.capacityFreed();
    }

    private static void complete(PendingRequest request, ZMTPMessage answer) {
        if (!request.complete(answer)) {
            ReferenceCountUtil.safeRelease(answer);
        }
    }

    /**
     * Called for a message that is not an answer. If one request to its peer is outstanding, that request fails.
     * Without an id, its answer can still come, and would be that to the next request, so the connection ends as well.
     */
    void malformed(Peer from) {
        PendingRequest request = correlates ? AskedTable.onlyOf(from) : PeersInTurn.awaited(from);
        if (request != null) {
            end(request);
            String text = "no empty frame before the answer of " + from.endpointText();
            if (!correlates) {
                from.disconnect(text); // first, as in timedOut
            }
            context.completions().fail(request, MALFORMED, text);
            if (correlates) {
                routing().becameWritable(from);
            }
        }
    }

    /** Called when the connection has ended. Requests to its peer will not be answered. */
    public void down(Peer peer, Supplier<Throwable> cause) {
        PendingRequest awaited = PeersInTurn.awaited(peer);
        List<PendingRequest> its = awaited == null ? AskedTable.allOf(peer) : List.of(awaited);
        AfterReads.forEach(context.eventLoop(), its.iterator(), request -> {
            if (request.peer == peer) { // otherwise it has ended in the meantime
                end(request);
                String text = "connection to " + peer.endpointText() + " ended before the answer";
                context.completions().fail(request, new ZMTPSocketException(PEER_DOWN, text, cause.get()));
            }
        });
    }

    public void close() {
        closed = true;
        PendingRequest waits = unsent.take();
        if (waits != null) {
            refuse(waits, CLOSED, "the socket is closed");
        }
        if (shared != null) {
            shared.queue().requests().forEach(Outgoing::closeQueued);
        }
        for (PendingRequest request : asked.all()) { // their messages still have time to leave
            end(request);
            context.completions().fail(request, CLOSED, "the socket is closed");
        }
        for (Peer peer : peers.list()) {
            PendingRequest request = PeersInTurn.awaited(peer);
            if (request != null) {
                end(request);
                context.completions().fail(request, CLOSED, "the socket is closed");
                routing().becameWritable(peer); // for a request that a REQ has sent in turn
            }
        }
        timeouts.close();
    }

    /** A request that a REQ has sent in turn still has time to leave. Others are useless without their answers. */
    void closeQueued(PendingRequest request) {
        if (request.isStrict()) {
            ZMTPMessage enveloped = enveloped(request);
            if (enveloped == null) {
                routing().forget(request);
                refuse(request, ILLEGAL_STATE, RELEASED);
                return;
            }
            Objects.requireNonNull(request.queued).forgetRequest(enveloped, request.sent);
            request.message = null;
            outstanding.leave();
        }
        end(request);
        context.completions().fail(request, CLOSED, "the socket is closed");
    }
}
