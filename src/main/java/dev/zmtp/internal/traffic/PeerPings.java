package dev.zmtp.internal.traffic;

import dev.zmtp.internal.connection.PeerTimer;
import dev.zmtp.internal.wire.Command;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The PINGs of the peer. Each PING receives a PONG. If it has a TTL, data has to arrive within the TTL (RFC 37,
 * "Connection Heartbeating").
 */
final class PeerPings {

    private final ChannelHandlerContext ctx;
    private final LongSupplier nanoTime;
    private final Heartbeat.Link link;
    private final Consumer<String> silent;
    private @Nullable PeerTimer ttl;

    /** The TTL of the newest PING that has one. */
    private @Nullable Duration announced;

    /** True if data has arrived since the last PING. */
    private boolean arrived;

    /** The context of the newest PING without a PONG. An older PONG has no new information for the peer. */
    private @Nullable ByteBuf unanswered;

    /** Calls {@code silent} with a description of the missing data if nothing arrives within a TTL. */
    PeerPings(ChannelHandlerContext ctx, LongSupplier nanoTime, Heartbeat.Link link, Consumer<String> silent) {
        this.ctx = ctx;
        this.nanoTime = nanoTime;
        this.link = link;
        this.silent = silent;
    }

    void arrived() {
        arrived = true;
    }

    /**
     * Called when this side reads again. The peer was not silent in the meantime, but it still has to keep its TTL, for
     * which only arriving data counts.
     */
    void resumed() {
        if (announced != null && !arrived) {
            startTtl(announced);
        }
    }

    void stop() {
        if (ttl != null) {
            ttl.cancel();
        }
    }

    /** Called when the peer has sent a PING with this TTL, in tenths of a second, and this context. */
    void onPing(int ttlDeciseconds, ByteBuf context) {
        if (ttlDeciseconds > 0) {
            arrived = false;
            announced = Duration.ofMillis(ttlDeciseconds * Heartbeat.TTL_UNIT_MILLIS);
            startTtl(announced);
        }
        unanswered = copyOf(context);
        sendWaitingPong();
    }

    private void startTtl(Duration silence) {
        if (ttl == null) {
            ttl = new PeerTimer(ctx.executor(), nanoTime);
        }
        ttl.start(silence.toNanos(), late -> onTtl(silence));
    }

    private void onTtl(Duration silence) {
        if (!arrived) {
            silent.accept(silence.toMillis() + " ms after its PING, its own TTL (expected: any byte)");
        }
    }

    private static ByteBuf copyOf(ByteBuf context) {
        if (!context.isReadable()) {
            return Unpooled.EMPTY_BUFFER;
        }
        byte[] bytes = new byte[context.readableBytes()];
        context.readBytes(bytes);
        return Unpooled.wrappedBuffer(bytes);
    }

    /**
     * Sends the waiting PONG if it can be sent now. Returns whether it was sent and has to be flushed. A peer that
     * sends PINGs and reads nothing must not make this side queue PONGs, so only the newest PONG waits while the
     * channel is unwritable.
     */
    boolean sendWaitingPong() {
        ByteBuf context = unanswered;
        if (context == null) {
            return false;
        }
        if (link.isWriting()) {
            link.retryAfterWrite();
            return false;
        }
        if (!ctx.channel().isWritable()) {
            return false;
        }
        unanswered = null;
        link.send(Command.PONG.body(ctx.alloc(), context), ctx.newPromise());
        return true;
    }
}
