package dev.zmtp.zap;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.security.ZMTPAuthRequest;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPDecision;
import dev.zmtp.wire.Metadata;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Lets a ZAP handler decide (RFC 27): an authenticator that asks over a connection, and the handler of that connection's
 * channel, behind a codec for a DEALER.
 *
 * <pre>{@code
 *   ZMTPZapClient zap = new ZMTPZapClient(Duration.ofSeconds(5));
 *   // the channel to the ZAP handler
 *   ch.pipeline().addLast(ZMTPCodec.of(DEALER), zap);
 *   // the server's config
 *   ZMTPConfig.builder().socketType(ROUTER).mechanism(ZMTPPlain.server()).authenticator(zap)
 * }</pre>
 *
 * <p>The other end is a REP or ROUTER socket that speaks ZAP over a transport that this machine can reach. ZAP handlers of
 * libzmq and JeroMQ listen at {@code inproc://zeromq.zap.01}, inside their process: there, a proxy between a ROUTER that is bound
 * to an address and a DEALER that is connected to that endpoint makes them reachable.
 *
 * <p>As long as there is no connection, or its handshake is not complete, and when an answer does not come in time, the decision
 * is a temporary failure: the peer may try again. One instance may be added to the pipeline of one channel after the other,
 * when a connection ends and is made again. Requests may come from any thread.
 */
@Sharable
public final class ZMTPZapClient extends ChannelInboundHandlerAdapter implements ZMTPAuthenticator {

    private static final String VERSION = "1.0";
    private static final int REPLY_FRAMES = 7;
    private static final int MAX_WAITING = 10_000;

    private final long timeoutNanos;

    /** All that have not ended: the next may have begun before the end of the last is known. */
    private final Map<ChannelHandlerContext, Connection> connections = new ConcurrentHashMap<>();

    /** The latest, which is asked. */
    private final AtomicReference<@Nullable Connection> latest = new AtomicReference<>();

    /**
     * A client without a connection yet.
     *
     * @param timeout how long an answer may take
     */
    public ZMTPZapClient(Duration timeout) {
        if (timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("timeout: " + timeout + " (expected: more than zero)");
        }
        this.timeoutNanos = timeout.toNanos();
    }

    @Override
    public CompletionStage<ZMTPDecision> authenticate(ZMTPAuthRequest request) {
        Connection current = latest.get();
        CompletableFuture<ZMTPDecision> answer = new CompletableFuture<>();
        if (current == null) {
            answer.complete(ZMTPDecision.temporaryFailure("no ZAP handler is connected"));
            return answer;
        }
        // Now, as the octets of a password are wiped when the peer does not wait.
        ByteBuf[] frames = frames(request);
        try {
            current.ctx.executor().execute(() -> current.ask(frames, answer));
        } catch (RejectedExecutionException e) {
            answer.complete(ZMTPDecision.temporaryFailure("the connection to the ZAP handler has ended"));
        }
        return answer;
    }

    private static ByteBuf[] frames(ZMTPAuthRequest request) {
        List<ByteBuf> frames = new ArrayList<>();
        frames.add(Unpooled.EMPTY_BUFFER); // the delimiter of an envelope
        frames.add(text(VERSION));
        frames.add(Unpooled.EMPTY_BUFFER); // the request id, which the connection gives
        frames.add(text(request.domain()));
        frames.add(text(address(request.remoteAddress())));
        frames.add(Unpooled.copiedBuffer(request.identity()));
        frames.add(text(request.mechanism()));
        for (ByteBuffer credential : request.credentials()) {
            frames.add(Unpooled.copiedBuffer(credential));
        }
        return frames.toArray(new ByteBuf[0]);
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
    }

    private static String address(@Nullable SocketAddress address) {
        if (address instanceof InetSocketAddress inet && inet.getAddress() != null) {
            return NetUtil.toAddressString(inet.getAddress()); // handlers compare it with their lists: 2001:db8::7
        }
        return address == null ? "" : address.toString();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
        if (evt instanceof ZMTPHandshakeSuccess) {
            Connection next = new Connection(ctx);
            connections.put(ctx, next);
            latest.set(next);
        }
        ctx.fireUserEventTriggered(evt);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        Connection current = connections.get(ctx);
        if (current == null || !(msg instanceof ZMTPMessage reply)) {
            ctx.fireChannelRead(msg);
            return;
        }
        try {
            current.answered(reply);
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
        Connection ended = connections.remove(ctx);
        if (ended != null) {
            latest.compareAndSet(ended, null);
            ended.end();
        }
    }

    /** One connection's requests. On its event loop. */
    private final class Connection {
        private final ChannelHandlerContext ctx;
        private final Map<Long, Waiting> waiting = new HashMap<>();
        private long lastId;
        private boolean ended;

        Connection(ChannelHandlerContext ctx) {
            this.ctx = ctx;
        }

        private record Waiting(CompletableFuture<ZMTPDecision> answer, ScheduledFuture<?> timeout) {
            void complete(ZMTPDecision decision) {
                timeout.cancel(false);
                answer.complete(decision);
            }
        }

        void ask(ByteBuf[] frames, CompletableFuture<ZMTPDecision> answer) {
            if (ended || waiting.size() >= MAX_WAITING) {
                answer.complete(ZMTPDecision.temporaryFailure(
                        ended ? "the connection to the ZAP handler has ended" : MAX_WAITING + " requests are waiting"));
                return;
            }
            if (!ctx.channel().isWritable()) { // a handler that reads nothing must not make us keep passwords
                answer.complete(ZMTPDecision.temporaryFailure("the ZAP handler takes no more requests"));
                return;
            }
            long id = ++lastId;
            ScheduledFuture<?> timeout;
            try {
                timeout = ctx.executor().schedule(() -> late(id), timeoutNanos, TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException e) {
                answer.complete(ZMTPDecision.temporaryFailure("the connection to the ZAP handler has ended"));
                return;
            }
            waiting.put(id, new Waiting(answer, timeout));
            frames[2] = text(Long.toString(id));
            ctx.writeAndFlush(ZMTPMessage.from(frames)).addListener(sent -> {
                if (!sent.isSuccess()) {
                    complete(id, ZMTPDecision.temporaryFailure("the ZAP handler could not be asked: " + sent.cause()));
                }
            });
        }

        private void late(long id) {
            complete(id, ZMTPDecision.temporaryFailure("the ZAP handler has not answered in time"));
        }

        private void complete(long id, ZMTPDecision decision) {
            Waiting asked = waiting.remove(id);
            if (asked != null) {
                asked.complete(decision);
            }
        }

        /** Takes a reply. One that belongs to no request is late, and dropped; one that is no ZAP is an error of its handler's. */
        void answered(ZMTPMessage reply) {
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
            List<Waiting> left = List.copyOf(waiting.values());
            waiting.clear();
            left.forEach(asked ->
                    asked.complete(ZMTPDecision.temporaryFailure("the connection to the ZAP handler has ended")));
        }
    }

    private static @Nullable Long id(ByteBuf frame) {
        String digits = frame.toString(StandardCharsets.US_ASCII);
        return digits.matches("[1-9][0-9]{0,17}") ? Long.valueOf(digits) : null;
    }

    private static ZMTPDecision decision(ZMTPMessage reply) {
        if (reply.size() != REPLY_FRAMES) {
            return broken("frames: " + reply.size() + " (expected: " + REPLY_FRAMES + ")");
        }
        if (reply.frame(0).isReadable()) {
            return broken("delimiter: " + ByteBufUtil.hexDump(reply.frame(0)) + " (expected: empty)");
        }
        if (!reply.frame(1).equals(text(VERSION))) {
            return broken("version: " + ByteBufUtil.hexDump(reply.frame(1)) + " (expected: " + VERSION + ")");
        }
        String status = reply.frame(3).toString(StandardCharsets.US_ASCII);
        String text = reply.frame(4).toString(StandardCharsets.UTF_8);
        return switch (status) {
            case "200" -> accepted(reply);
            case "300" -> ZMTPDecision.temporaryFailure(text);
            case "400" -> ZMTPDecision.deny(text);
            case "500" -> ZMTPDecision.error(text);
            default -> broken("status: " + status + " (expected: 200, 300, 400 or 500)");
        };
    }

    private static ZMTPDecision accepted(ZMTPMessage reply) {
        try {
            ZMTPMetadata metadata = Metadata.read(reply.frame(6).duplicate(), Integer.MAX_VALUE);
            return ZMTPDecision.accept(reply.frame(5).toString(StandardCharsets.UTF_8), metadata);
        } catch (ZMTPException e) {
            return broken("metadata: " + e.getMessage());
        }
    }

    private static ZMTPDecision broken(String what) {
        return ZMTPDecision.temporaryFailure("the reply of the ZAP handler is none: " + what);
    }
}
