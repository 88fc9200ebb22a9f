package dev.zmtp.zap;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.internal.wire.Metadata;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPAuthRequest;
import dev.zmtp.security.ZMTPAuthenticator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
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
 * <p>The other end is a REP or ROUTER socket that speaks ZAP over a transport that this machine can reach. ZAP handlers
 * of libzmq and JeroMQ listen at {@code inproc://zeromq.zap.01}, inside their process. To reach them, run a proxy in
 * that process between a ROUTER that is bound to an address and a DEALER that is connected to that endpoint.
 *
 * <p>Without a connection whose handshake is complete, or without a valid reply in time, the decision is a temporary
 * failure, after which the peer can try again. A reply is valid if its version and status are known, and its metadata
 * has at most 256 properties.
 *
 * <p>If the connection ends, add the same instance to the pipeline of a new connection. The instance can be in several
 * pipelines. Requests are sent on the most recently added connection that still exists. Credentials are wiped after
 * they were sent, or could not be sent. Thread safe.
 */
@Sharable
public final class ZMTPZapClient extends ChannelInboundHandlerAdapter implements ZMTPAuthenticator {

    private static final String VERSION = "1.0";
    private static final int REPLY_FRAMES = 7;
    private static final int MAX_PENDING = 10_000;
    private static final int MAX_PROPERTIES = 256;

    private static final String ENDED = "the connection to the ZAP handler has ended";

    private final long timeoutNanos;

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
        if (timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("timeout: " + timeout + " (expected: more than zero)");
        }
        this.timeoutNanos = timeout.toNanos();
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
        Credentials credentials = new Credentials(request.credentials());
        try {
            current.ctx.executor().execute(() -> current.ask(request, credentials, answer));
        } catch (RejectedExecutionException e) {
            credentials.wipe();
            answer.complete(ZMTPAuthDecision.temporaryFailure(ENDED));
        }
        return answer;
    }

    /** Copies of the credentials of a peer, on the heap. */
    private record Credentials(List<byte[]> copies) {
        Credentials(Collection<ByteBuffer> credentials) {
            this(credentials.stream()
                    .map(credential -> ByteBufUtil.getBytes(Unpooled.wrappedBuffer(credential)))
                    .toList());
        }

        void wipe() {
            copies.forEach(copy -> Arrays.fill(copy, (byte) 0));
        }
    }

    /** Returns the request with this ID. Its last frames are the credentials themselves, not copies. */
    private static ZMTPMessage message(long id, ZMTPAuthRequest request, Credentials credentials) {
        List<ByteBuf> frames = new ArrayList<>();
        frames.add(Unpooled.EMPTY_BUFFER); // the delimiter of an envelope
        frames.add(text(VERSION));
        frames.add(text(Long.toString(id)));
        frames.add(text(request.domain()));
        frames.add(text(address(request.peerAddress())));
        frames.add(Unpooled.copiedBuffer(request.identity()));
        frames.add(text(request.mechanism()));
        for (byte[] credential : credentials.copies()) {
            frames.add(Unpooled.wrappedBuffer(credential));
        }
        return ZMTPMessage.from(frames.toArray(new ByteBuf[0]));
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
    }

    private static String address(@Nullable SocketAddress address) {
        if (address instanceof InetSocketAddress inet && inet.getAddress() != null) {
            return NetUtil.toAddressString(
                    inet.getAddress()); // the short form, 2001:db8::7, as in lists of ZAP handlers
        }
        return address == null ? "" : address.toString();
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
        private long lastId;
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

        void ask(ZMTPAuthRequest request, Credentials credentials, CompletableFuture<ZMTPAuthDecision> answer) {
            String obstacle = obstacle();
            if (obstacle == null) {
                send(request, credentials, answer);
            } else {
                credentials.wipe();
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
                ZMTPAuthRequest request, Credentials credentials, CompletableFuture<ZMTPAuthDecision> answer) {
            long id = ++lastId;
            pending.put(
                    id,
                    new Request(
                            answer, ctx.executor().schedule(() -> onTimeout(id), timeoutNanos, TimeUnit.NANOSECONDS)));
            ctx.writeAndFlush(message(id, request, credentials)).addListener(sent -> {
                credentials.wipe();
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
            if (reply.size() < 3) {
                return;
            }
            Long id = id(reply.frame(2));
            if (id != null) {
                complete(id, decision(reply));
            }
        }

        void end() {
            ended = true;
            List<Request> left = List.copyOf(pending.values());
            pending.clear();
            left.forEach(request -> request.complete(ZMTPAuthDecision.temporaryFailure(ENDED)));
        }
    }

    private static @Nullable Long id(ByteBuf frame) {
        String digits = frame.toString(StandardCharsets.US_ASCII);
        return digits.matches("[1-9][0-9]{0,17}") ? Long.valueOf(digits) : null;
    }

    private static ZMTPAuthDecision decision(ZMTPMessage reply) {
        if (reply.size() != REPLY_FRAMES) {
            return malformed("frames: " + reply.size() + " (expected: " + REPLY_FRAMES + ")");
        }
        if (reply.frame(0).isReadable()) {
            return malformed("delimiter: " + ByteBufUtil.hexDump(reply.frame(0)) + " (expected: empty)");
        }
        if (!reply.frame(1).equals(text(VERSION))) {
            return malformed("version: " + ByteBufUtil.hexDump(reply.frame(1)) + " (expected: " + VERSION + ")");
        }
        String status = reply.frame(3).toString(StandardCharsets.US_ASCII);
        String text = reply.frame(4).toString(StandardCharsets.UTF_8);
        return switch (status) {
            case "200" -> accepted(reply);
            case "300" -> ZMTPAuthDecision.temporaryFailure(text);
            case "400" -> ZMTPAuthDecision.deny(text);
            case "500" -> ZMTPAuthDecision.error(text);
            default -> malformed("status: " + status + " (expected: 200, 300, 400 or 500)");
        };
    }

    private static ZMTPAuthDecision accepted(ZMTPMessage reply) {
        try {
            ZMTPMetadata metadata = Metadata.read(reply.frame(6).duplicate(), MAX_PROPERTIES);
            return ZMTPAuthDecision.accept(reply.frame(5).toString(StandardCharsets.UTF_8), metadata);
        } catch (ZMTPException e) {
            return malformed("metadata: " + e.getMessage());
        }
    }

    private static ZMTPAuthDecision malformed(String what) {
        return ZMTPAuthDecision.temporaryFailure("malformed ZAP reply: " + what);
    }
}
