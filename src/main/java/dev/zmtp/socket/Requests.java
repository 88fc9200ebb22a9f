package dev.zmtp.socket;

import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.EXPIRED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;
import static dev.zmtp.socket.ZMTPSocketException.Reason.MALFORMED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.socket.ZMTPSocketException.Reason.TIMEOUT;

import dev.zmtp.ZMTPMessage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.collection.LongObjectHashMap;
import io.netty.util.collection.LongObjectMap;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a REQ or DEALER that wait for their answers. Each has an id of 8 bytes as the first frame of its
 * envelope, and its answer has the same id: a REP returns the envelope, and so does any service that is connected
 * through a ROUTER. An answer is accepted only from the peer that was asked.
 */
final class Requests {

    /**
     * Odd, so that each id comes once in 2^32 requests; and large, as a hash map puts consecutive ids next to each
     * other.
     */
    private static final int ID_STEP = 0x9E3779B9;

    /** The first half of all our ids, so that those of another program are not mistaken for ours. */
    private final int salt;

    private final SocketCore core;
    private final AtomicInteger outstanding = new AtomicInteger();
    private final AtomicInteger unsent = new AtomicInteger();
    private final Timeouts timeouts;

    // On the event loop
    private final LongObjectMap<PendingRequest> asked = new LongObjectHashMap<>();
    private final Deque<PendingRequest> line = new ArrayDeque<>(0);
    private final ZMTPMessage.Builder builder = new ZMTPMessage.Builder();
    private final ByteBuf idFrame = Unpooled.buffer(Long.BYTES);
    private @Nullable PendingRequest uncorrelated;
    private int lastId;
    private boolean closed;

    Requests(SocketCore core) {
        this.core = core;
        this.timeouts = new Timeouts(core, this::timedOut);
        this.salt = core.random();
        this.lastId = core.random();
    }

    // From any thread

    CompletableFuture<ZMTPMessage> ask(ZMTPMessage message, Duration timeout) {
        return ask(new PendingRequest(this, message, Settings.nanos(timeout), null));
    }

    /** Sends a REQ's own request, which has no id: there is one at a time. */
    PendingRequest ask(ZMTPMessage message, CompletableFuture<Void> sent) {
        return ask(new PendingRequest(this, message, Long.MAX_VALUE, sent));
    }

    private PendingRequest ask(PendingRequest request) {
        int max = core.config().maxOutstandingRequests();
        unsent.incrementAndGet();
        if (outstanding.incrementAndGet() > max) {
            refuse(request, FULL, "as many requests wait for answers as may: " + max);
        } else if (core.inEventLoop()) {
            start(request);
        } else if (!core.tryExecute(request)) {
            refuse(request, CLOSED, "the event loop has ended");
        }
        return request;
    }

    /** Fails a request whose message was not passed to a peer. */
    private void refuse(PendingRequest request, ZMTPSocketException.Reason reason, String text) {
        release(request);
        SendResults.fail(request, reason, text);
        SendResults.fail(request.sent, reason, text);
    }

    private void release(PendingRequest request) {
        ZMTPMessage message = request.message;
        if (message != null) {
            request.message = null;
            outstanding.decrementAndGet();
            unsent.decrementAndGet();
            core.account().dropped();
            message.release();
        }
    }

    int outstanding() {
        return outstanding.get();
    }

    /** The number of requests that have not come to a peer yet. From any thread. */
    int waiting() {
        return unsent.get();
    }

    /** Called when nothing waits for this answer any more. */
    void abandoned(PendingRequest request) {
        if (core.inEventLoop() || !core.tryExecute(() -> end(request))) {
            end(request);
        }
    }

    // On the event loop

    void start(PendingRequest request) {
        if (closed) {
            refuse(request, CLOSED, "the socket is closed");
            return;
        }
        if (request.timeout != Long.MAX_VALUE) {
            timeouts.add(request);
        }
        line.add(request);
        room();
    }

    private boolean send(PendingRequest request) {
        ZMTPMessage message = request.message;
        if (message == null || request.isDone()) {
            return true; // it ended while it waited in line
        }
        Peer peer = core.routing().choose();
        if (peer == null) {
            return false;
        }
        request.message = null;
        unsent.decrementAndGet();
        request.peer = peer;
        Envelope.begin(builder, message);
        if (request.isCorrelated()) {
            long id = (long) salt << Integer.SIZE | ((lastId += ID_STEP) & 0xFFFFFFFFL);
            request.id = id;
            asked.put(id, request);
            builder.copy(idFrame.clear().writeLong(id), Long.BYTES);
        } else {
            uncorrelated = request;
        }
        peer.asked++;
        ZMTPMessage envelope = Envelope.with(builder.copy(Unpooled.EMPTY_BUFFER, 0), message);
        if (peer.canTake()) {
            peer.sendAccepted(envelope, request.sent);
        } else {
            peer.send(envelope, request.sent); // which drops it or another one
        }
        return true;
    }

    /** Called when there may be room. */
    void room() {
        // Each is taken out first: a write may flush, and the flush may call this method.
        for (PendingRequest next = line.poll(); next != null; next = line.poll()) {
            if (!send(next)) {
                line.addFirst(next);
                return;
            }
        }
    }

    /** Removes the entry, however the request has ended. A second call changes nothing. */
    private void end(PendingRequest request) {
        timeouts.remove(request);
        if (request.message != null) {
            release(request);
            line.remove(request);
        } else if (request.peer != null) {
            request.peer.asked--;
            request.peer = null;
            outstanding.decrementAndGet();
            if (request.isCorrelated()) {
                asked.remove(request.id);
            } else if (uncorrelated == request) {
                uncorrelated = null;
            }
        }
    }

    private void timedOut(PendingRequest request) {
        Peer peer = request.peer;
        end(request); // even if the application has completed it
        String text = "no answer within " + Duration.ofNanos(request.timeout);
        if (peer == null) {
            text += core.peerList().isEmpty() ? ": there is no peer" : ": no peer had room for the request";
        } else if (!peer.isUp()) {
            text += ": " + peer.place() + " is down";
        }
        request.completeExceptionally(new ZMTPSocketException(TIMEOUT, text, peer == null ? null : peer.lastFailure()));
    }

    /**
     * Takes the message over if it is the answer to a request with an id, or the late answer to one that has ended.
     *
     * @return whether it was taken
     */
    boolean answered(Peer from, ZMTPMessage message) {
        if (message.size() < 3 || !isOurs(message.frame(0)) || message.frame(1).isReadable()) {
            return false;
        }
        ByteBuf id = message.frame(0);
        PendingRequest request = asked.get(id.getLong(id.readerIndex()));
        if (request == null) {
            from.counters().late.add(1);
            message.release();
        } else if (request.peer != from) {
            Reception.malformed(from, message);
        } else {
            end(request);
            complete(request, Envelope.data(builder, message, 2));
        }
        return true;
    }

    private boolean isOurs(ByteBuf id) {
        return id.readableBytes() == Long.BYTES && id.getInt(id.readerIndex()) == salt;
    }

    /** Handles an answer to the request without an id. Takes the message over. */
    void answeredUncorrelated(Peer from, ZMTPMessage message) {
        PendingRequest request = uncorrelated;
        if (request == null || request.peer != from) {
            from.counters().late.add(1); // RFC 28: it is discarded without an error
            message.release();
        } else {
            end(request);
            complete(request, Envelope.data(builder, message, 1));
        }
    }

    /** Called when a message was dropped from the queue of its peer. If it was a request, there will be no answer. */
    void dropped(ZMTPMessage message, boolean expired, String text) {
        ByteBuf first = message.frame(0);
        PendingRequest request = isOurs(first) ? asked.get(first.getLong(first.readerIndex())) : null;
        if (request == null && !first.isReadable()) {
            request = uncorrelated;
        }
        if (request != null) {
            end(request);
            SendResults.fail(request, expired ? EXPIRED : FULL, text);
        }
    }

    private static void complete(PendingRequest request, ZMTPMessage answer) {
        if (!request.complete(answer)) {
            answer.release();
        }
    }

    /**
     * Called when a peer has sent something that is not an answer. If exactly one request to it is outstanding, that
     * one fails.
     */
    void malformed(Peer from) {
        if (from.asked == 1) {
            for (PendingRequest request : askedOf(from)) {
                SendResults.fail(request, MALFORMED, "no empty frame before the answer of " + from.place());
            }
        }
    }

    private List<PendingRequest> askedOf(Peer peer) {
        List<PendingRequest> its = new ArrayList<>(peer.asked);
        if (peer.asked > 0) {
            asked.values().forEach(request -> addIfOf(peer, request, its));
            addIfOf(peer, uncorrelated, its);
        }
        return its;
    }

    private static void addIfOf(Peer peer, @Nullable PendingRequest request, List<PendingRequest> its) {
        if (request != null && request.peer == peer) {
            its.add(request);
        }
    }

    /**
     * Called when the connection has ended. Requests that were written will not be answered and fail; those still in
     * the queue stay.
     */
    void down(Peer peer, Throwable cause) {
        if (peer.asked == 0) {
            return;
        }
        Set<Long> queued = new HashSet<>();
        boolean uncorrelatedQueued = false;
        for (QueuedMessage outgoing : peer.queue().all()) {
            ByteBuf first = outgoing.message().frame(0);
            if (isOurs(first)) {
                queued.add(first.getLong(first.readerIndex()));
            } else {
                uncorrelatedQueued |= !first.isReadable();
            }
        }
        for (PendingRequest request : askedOf(peer)) {
            if (request.isCorrelated() ? !queued.contains(request.id) : !uncorrelatedQueued) {
                ZMTPSocketException failure = new ZMTPSocketException(
                        PEER_DOWN, "connection to " + peer.place() + " ended before the answer", cause);
                end(request);
                request.completeExceptionally(failure);
            }
        }
    }

    void close() {
        closed = true;
        List.copyOf(line).forEach(request -> {
            end(request);
            refuse(request, CLOSED, "the socket is closed");
        });
        List<PendingRequest> all = new ArrayList<>(asked.values()); // their messages still have time to leave
        if (uncorrelated != null) {
            all.add(uncorrelated);
        }
        for (PendingRequest request : all) {
            end(request);
            SendResults.fail(request, CLOSED, "the socket is closed");
        }
        timeouts.close();
    }
}
