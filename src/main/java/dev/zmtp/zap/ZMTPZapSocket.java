package dev.zmtp.zap;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.runtime.AfterReads;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPAuthRequest;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Authenticator that queries a ZAP handler over a socket (RFC 27). The ZAP handler is a REP or ROUTER socket, usually a
 * {@link ZMTPSocket} of this process that is bound to {@code inproc://zeromq.zap.01}.
 *
 * <pre>{@code
 *   ZMTPZapSocket zap = ZMTPZapSocket.connect("inproc://zeromq.zap.01", Duration.ofSeconds(5));
 *   ZMTPSocketConfig.builder(ROUTER)
 *           .codec(c -> c.mechanism(ZMTPPlain.server()).authenticator(zap))
 * }</pre>
 *
 * <p>A request waits for a ZAP handler that is not bound yet. Without a valid reply in time, the decision is a
 * temporary failure, after which the peer can try again. So is the decision of a request whose handler has left, and of
 * a request beyond 10,000 requests without a reply. A reply is valid if its version and status are known, and its
 * metadata has at most 256 properties.
 *
 * <p>The names of {@code inproc} are those of this library. ZAP handlers of libzmq and JeroMQ in the same process are
 * reached with {@link ZMTPZapClient}.
 *
 * <p>The copies of credentials are wiped when the request is released. Over {@code inproc}, the handler gets the copies
 * themselves, so they are wiped when the handler releases the message. Over other transports without encryption, the
 * codec also copies them to a pooled buffer, which is not wiped. Thread safe.
 */
public final class ZMTPZapSocket implements ZMTPAuthenticator, AutoCloseable {

    private static final int MAX_PENDING = ZMTPZapClient.MAX_PENDING;

    private static final String CLOSED = "the ZAP socket is closed";

    private final ZMTPSocket dealer;
    private final EventLoop eventLoop;
    private final long timeoutNanos;

    // On the event loop

    private final Map<Long, Pending> pending = new HashMap<>();

    /** Pending requests that were not sent yet. At the end of its timeout, a password must not remain in a queue. */
    private final Map<Long, ZMTPMessage> unsent = new LinkedHashMap<>();

    private long lastId;
    private boolean closed;

    private record Pending(CompletableFuture<ZMTPAuthDecision> answer, ScheduledFuture<?> timeout) {}

    private ZMTPZapSocket(ZMTPSocket dealer, String endpoint, Duration timeout) {
        if (dealer.socketType() != ZMTPSocketType.DEALER) {
            throw new IllegalArgumentException("dealer: " + dealer.socketType() + " (expected: DEALER)");
        }
        this.timeoutNanos = ZMTPZapClient.nanos(timeout);
        this.dealer = dealer;
        this.eventLoop = dealer.eventLoop();
        dealer.onMessage((from, reply) -> onReply(reply));
        dealer.onEvent(eventLoop, this::onEvent);
        dealer.onWritable(this::sendSome);
        dealer.connect(endpoint);
        dealer.closeFuture().whenComplete((closed, failure) -> endAnyway());
    }

    /**
     * Returns an authenticator that queries the ZAP handler at the endpoint, which need not be bound yet.
     *
     * @param timeout maximum time for a reply, more than zero
     * @throws IllegalArgumentException if the timeout is not more than zero, or the endpoint is invalid
     */
    public static ZMTPZapSocket connect(String endpoint, Duration timeout) {
        return connect(ZMTPSocket.of(config().build()), endpoint, timeout);
    }

    /**
     * Like {@link #connect(String, Duration)}, with a socket whose config has an event loop or other settings of the
     * application. A test can pass a socket of a {@link dev.zmtp.test.ZMTPTestLoop}, on whose {@code inproc} endpoints
     * its ZAP handler listens.
     *
     * @param dealer a DEALER that was opened with the {@link #config()} and has no endpoint and no receiver. It is
     *     closed with the authenticator, and also if this method throws
     * @param timeout maximum time for a reply, more than zero
     * @throws IllegalArgumentException if the socket is not a DEALER, the timeout is not more than zero, or the
     *     endpoint is invalid
     * @throws IllegalStateException if the socket has a receiver
     */
    public static ZMTPZapSocket connect(ZMTPSocket dealer, String endpoint, Duration timeout) {
        try {
            return new ZMTPZapSocket(dealer, endpoint, timeout);
        } catch (RuntimeException e) {
            dealer.closeAsync(Duration.ZERO);
            throw e;
        }
    }

    /**
     * Returns the config of a DEALER for {@link #connect(ZMTPSocket, String, Duration)}, to which other settings can be
     * added. Its queue holds a single request, and none while the ZAP handler is absent. The authenticator keeps the
     * other requests, because it has to wipe a password when the time of its request is over.
     */
    public static ZMTPSocketConfig.Builder config() {
        return ZMTPSocketConfig.builder(ZMTPSocketType.DEALER)
                .queueWhileDown(false)
                .sendQueueLimit(1, 1)
                .linger(Duration.ZERO);
    }

    @Override
    public CompletionStage<ZMTPAuthDecision> authenticate(ZMTPAuthRequest request) {
        CompletableFuture<ZMTPAuthDecision> answer = new CompletableFuture<>();
        // Copied now, because a password is wiped if the peer's connection ends.
        List<ByteBuf> credentials = WipedBuffer.copies(request.credentials());
        try {
            eventLoop.execute(() -> ask(request, credentials, answer));
        } catch (RejectedExecutionException e) {
            fail(credentials, answer, CLOSED);
        }
        return answer;
    }

    private static void fail(List<ByteBuf> credentials, CompletableFuture<ZMTPAuthDecision> answer, String why) {
        credentials.forEach(ByteBuf::release);
        answer.complete(ZMTPAuthDecision.temporaryFailure(why));
    }

    /**
     * Completes all pending requests with a temporary failure, and closes the socket. Later requests get a temporary
     * failure, too. The caller can be on an event loop.
     */
    @Override
    public void close() {
        endAnyway();
        dealer.closeAsync(Duration.ZERO);
    }

    /** Also completes the requests of an event loop that has ended, whose timers do not run. */
    private void endAnyway() {
        try {
            eventLoop.execute(this::end);
        } catch (RejectedExecutionException e) {
            eventLoop.terminationFuture().addListener(ended -> end());
        }
    }

    // On the event loop

    private void ask(ZMTPAuthRequest request, List<ByteBuf> credentials, CompletableFuture<ZMTPAuthDecision> answer) {
        String obstacle = obstacle();
        if (obstacle != null) {
            fail(credentials, answer, obstacle);
            return;
        }
        long id = ++lastId;
        ScheduledFuture<?> timeout = eventLoop.schedule(() -> onTimeout(id), timeoutNanos, TimeUnit.NANOSECONDS);
        pending.put(id, new Pending(answer, timeout));
        unsent.put(id, ZapMessages.request(id, request, credentials));
        sendSome();
    }

    private @Nullable String obstacle() {
        if (closed) {
            return CLOSED;
        }
        return pending.size() < MAX_PENDING ? null : MAX_PENDING + " requests are pending";
    }

    /** Sends requests while the socket has a handler that takes them. Called again when it has room. */
    private void sendSome() {
        while (!unsent.isEmpty() && dealer.isWritable()) {
            Iterator<ZMTPMessage> first = unsent.values().iterator();
            ZMTPMessage request = first.next();
            first.remove();
            dealer.sendOrDrop(request);
        }
    }

    private void onTimeout(long id) {
        complete(id, ZMTPAuthDecision.temporaryFailure("the ZAP handler did not reply in time"));
    }

    private void complete(long id, ZMTPAuthDecision decision) {
        ZMTPMessage request = unsent.remove(id);
        if (request != null) {
            request.release();
        }
        Pending its = pending.remove(id);
        if (its != null) {
            its.answer.complete(decision);
            if (eventLoop.inEventLoop()) { // otherwise it has ended, with its timers
                its.timeout.cancel(false);
            }
        }
    }

    /**
     * Handles a reply. A reply without a pending request is dropped. A malformed reply completes its request with a
     * temporary failure.
     */
    private void onReply(ZMTPMessage reply) {
        Long id;
        ZMTPAuthDecision decision;
        try {
            id = ZapMessages.id(reply);
            decision = ZapMessages.decision(reply);
        } finally {
            reply.release();
        }
        if (id != null && !unsent.containsKey(id)) { // otherwise a handler has guessed the ID
            complete(id, decision);
        }
    }

    /** Completes the requests of a handler that has left, which does not reply any more. */
    private void onEvent(ZMTPSocketEvent event) {
        if (event instanceof ZMTPSocketEvent.PeerDown) {
            List<Long> sent = new ArrayList<>(pending.keySet());
            sent.removeAll(unsent.keySet());
            fail(sent, "the connection to the ZAP handler has ended");
        }
    }

    private void end() {
        if (closed) {
            return;
        }
        closed = true;
        unsent.values().forEach(ReferenceCountUtil::safeRelease);
        unsent.clear();
        fail(List.copyOf(pending.keySet()), CLOSED);
    }

    private void fail(List<Long> ids, String why) {
        AfterReads.forEach(eventLoop, ids.iterator(), id -> complete(id, ZMTPAuthDecision.temporaryFailure(why)));
    }
}
