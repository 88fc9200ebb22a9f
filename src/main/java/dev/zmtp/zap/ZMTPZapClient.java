package dev.zmtp.zap;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.internal.runtime.AfterReads;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPAuthRequest;
import dev.zmtp.security.ZMTPAuthenticator;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Authenticator that queries a ZAP handler about peers (RFC 27). It is also a channel handler, which is added after a
 * codec for a DEALER to the pipeline of the connection to the ZAP handler.
 *
 * <pre>{@code
 *   ZMTPZapClient zap = new ZMTPZapClient(Duration.ofSeconds(5));
 *   // the channel to the ZAP handler
 *   ch.pipeline().addLast(ZMTPCodec.of(DEALER), zap);
 *   // the server's config
 *   ZMTPConfig.builder().socketType(ROUTER).mechanism(ZMTPPlain.server()).authenticator(zap)
 * }</pre>
 *
 * <p>The other end is a REP or ROUTER socket that speaks ZAP over a transport that this machine can reach. For a ZAP
 * handler that is a {@code ZMTPSocket} of this process, use {@link ZMTPZapSocket}. ZAP handlers of libzmq and JeroMQ
 * listen at {@code inproc://zeromq.zap.01}, inside their process. To reach them, run a proxy in that process between a
 * ROUTER that is bound to an address and a DEALER that is connected to that endpoint.
 *
 * <p>Without a connection whose handshake is complete, or without a valid reply in time, the decision is a temporary
 * failure, after which the peer can try again. A reply is valid if its version and status are known, and its metadata
 * has at most 256 properties.
 *
 * <p>If the connection ends, add the same instance to the pipeline of a new connection. The instance can be in several
 * pipelines. Requests are sent on the most recently added connection that still exists. The copies of credentials are
 * wiped after they were sent, or could not be sent. Without encryption, the codec also copies them to a pooled buffer,
 * which is not wiped. Thread safe.
 */
@Sharable
public final class ZMTPZapClient extends ChannelInboundHandlerAdapter implements ZMTPAuthenticator {

    /** Maximum number of requests without a reply. */
    static final int MAX_PENDING = 10_000;

    private static final String ENDED = "the connection to the ZAP handler has ended";

    /** Maximum id before that of the first request, so that no id has more digits than are accepted. */
    private static final long MAX_LAST_ID = 100_000_000_000_000_000L;

    private final long timeoutNanos;

    /**
     * Id of the last request on any connection, which begins at random. With an identity, a handler can send a late
     * reply over the next connection, or to the next process, and it must not be taken for that to another request.
     */
    private final AtomicLong lastId;

    /**
     * Connections that have not ended, the newest first, which gets the requests. A new connection can begin before the
     * end of the last connection is known.
     */
    private final Deque<Connection> connections = new ConcurrentLinkedDeque<>();

    /**
     * Creates a client without a connection.
     *
     * @param timeout maximum time for a reply, more than zero
     * @throws IllegalArgumentException if the timeout is not more than zero
     */
    public ZMTPZapClient(Duration timeout) {
        this(timeout, ThreadLocalRandom.current().nextLong(MAX_LAST_ID));
    }

    /** @param lastId id before that of the first request */
    ZMTPZapClient(Duration timeout, long lastId) {
        this.timeoutNanos = nanos(timeout);
        this.lastId = new AtomicLong(lastId);
    }

    /** Returns the timeout in nanoseconds if it is more than zero. */
    static long nanos(Duration timeout) {
        if (timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("timeout: " + timeout + " (expected: more than zero)");
        }
        return timeout.toNanos();
    }

    @Override
    public CompletionStage<ZMTPAuthDecision> authenticate(ZMTPAuthRequest request) {
        Connection current = connections.peekFirst();
        CompletableFuture<ZMTPAuthDecision> answer = new CompletableFuture<>();
        if (current == null) {
            answer.complete(ZMTPAuthDecision.temporaryFailure("no ZAP handler is connected"));
            return answer;
        }
        // Copied now, because a password is wiped if the peer's connection ends.
        List<ByteBuf> credentials = WipedBuffer.copies(request.credentials());
        try {
            current.ctx.executor().execute(() -> current.ask(request, credentials, answer));
        } catch (RejectedExecutionException e) {
            credentials.forEach(ByteBuf::release);
            answer.complete(ZMTPAuthDecision.temporaryFailure(ENDED));
        }
        return answer;
    }

    /**
     * Activates the connection at once if the handshake of this pipeline is complete, because its event has already
     * passed.
     */
    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        ZMTPCodec codec = ctx.pipeline().get(ZMTPCodec.class);
        if (codec != null && codec.session().handshakeFuture().isSuccess()) {
            begin(ctx);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
        if (evt instanceof ZMTPHandshakeSuccess) {
            begin(ctx);
        }
        ctx.fireUserEventTriggered(evt);
    }

    private void begin(ChannelHandlerContext ctx) {
        if (connection(ctx) == null) { // a listener of the handshake may have added us just before its event
            connections.addFirst(new Connection(ctx));
        }
    }

    private @Nullable Connection connection(ChannelHandlerContext ctx) {
        for (Connection connection : connections) { // one, mostly
            if (connection.ctx == ctx) {
                return connection;
            }
        }
        return null;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        Connection current = connection(ctx);
        if (current == null || !(msg instanceof ZMTPMessage reply)) {
            ctx.fireChannelRead(msg);
            return;
        }
        try {
            current.onReply(reply);
        } finally {
            reply.release();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        end(ctx);
        ctx.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        end(ctx);
    }

    private void end(ChannelHandlerContext ctx) {
        Connection ended = connection(ctx);
        if (ended != null) {
            connections.remove(ended);
            ended.end();
        }
    }

    /** Requests on a connection. Used on its event loop. */
    private final class Connection {
        private final ChannelHandlerContext ctx;
        private final Map<Long, Request> pending = new HashMap<>();
        private boolean ended;

        Connection(ChannelHandlerContext ctx) {
            this.ctx = ctx;
        }

        private record Request(CompletableFuture<ZMTPAuthDecision> answer, ScheduledFuture<?> timeout) {
            void complete(ZMTPAuthDecision decision) {
                timeout.cancel(false);
                answer.complete(decision);
            }
        }

        void ask(ZMTPAuthRequest request, List<ByteBuf> credentials, CompletableFuture<ZMTPAuthDecision> answer) {
            String obstacle = obstacle();
            if (obstacle == null) {
                send(request, credentials, answer);
            } else {
                credentials.forEach(ByteBuf::release);
                answer.complete(ZMTPAuthDecision.temporaryFailure(obstacle));
            }
        }

        /** Returns the reason why no request can be sent now, or null if requests can be sent. */
        private @Nullable String obstacle() {
            if (ended) {
                return ENDED;
            }
            if (pending.size() >= MAX_PENDING) {
                return MAX_PENDING + " requests are pending";
            }
            // A ZAP handler that reads nothing must not make us pile up passwords.
            return ctx.channel().isWritable() ? null : "the ZAP handler reads no more requests";
        }

        private void send(
                ZMTPAuthRequest request, List<ByteBuf> credentials, CompletableFuture<ZMTPAuthDecision> answer) {
            long id = lastId.incrementAndGet();
            pending.put(
                    id,
                    new Request(
                            answer, ctx.executor().schedule(() -> onTimeout(id), timeoutNanos, TimeUnit.NANOSECONDS)));
            ctx.writeAndFlush(ZapMessages.request(id, request, credentials)).addListener(sent -> {
                if (!sent.isSuccess()) {
                    complete(
                            id,
                            ZMTPAuthDecision.temporaryFailure("the ZAP handler could not be asked: " + sent.cause()));
                }
            });
        }

        private void onTimeout(long id) {
            complete(id, ZMTPAuthDecision.temporaryFailure("the ZAP handler did not reply in time"));
        }

        private void complete(long id, ZMTPAuthDecision decision) {
            Request request = pending.remove(id);
            if (request != null) {
                request.complete(decision);
            }
        }

        /**
         * Handles a reply. A reply without a pending request is dropped. A malformed reply completes its request with a
         * temporary failure.
         */
        void onReply(ZMTPMessage reply) {
            Long id = ZapMessages.id(reply);
            if (id != null) {
                complete(id, ZapMessages.decision(reply));
            }
        }

        void end() {
            ended = true;
            AfterReads.forEach(
                    ctx.executor(),
                    List.copyOf(pending.keySet()).iterator(),
                    id -> complete(id, ZMTPAuthDecision.temporaryFailure(ENDED)));
        }
    }
}
