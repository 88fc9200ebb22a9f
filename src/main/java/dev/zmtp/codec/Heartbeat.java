package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import dev.zmtp.wire.Command;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * PINGs and PONGs, and the end of a connection whose peer is gone (RFC 37, "Connection Heartbeating").
 *
 * <p>Our side: a PING in each interval, and an end to the connection if nothing at all arrives within the timeout after
 * it. The peer's side: a PONG for its PING, and if that names a TTL, an end if nothing arrives within it.
 */
final class Heartbeat {

    private static final long TTL_UNIT_MILLIS = 100;

    /** What a heartbeat needs of the connection. */
    interface Link {

        /** Returns whether we are reading, so that silence is the peer's: false with auto-read off. */
        boolean isListening();

        /** Returns whether a command can be sent now: no write is going on and the channel is writable. */
        boolean canSend();

        /** Has what waits sent when the write that is in progress, if any, is done. */
        void retryAfterWrite();

        /** Sends a command, whose body is taken over. It leaves with the next flush, or at the end of the read. */
        void send(ByteBuf command);

        /** Sends what was written. */
        void flush();

        /** Ends the connection. */
        void fail(Throwable cause);
    }

    private final ZMTPConfig config;
    private final ZMTPSession session;
    private final ChannelHandlerContext ctx;
    private final Link link;

    private @Nullable Future<?> interval;
    private @Nullable Future<?> timeout;
    private @Nullable Future<?> ttl;
    private boolean stopped;

    /** Changes with each sign of life. */
    private long activity;

    private boolean pingWaiting;

    /**
     * The context of the newest PING that was not answered yet. One is enough: an old PONG says nothing new to the
     * peer.
     */
    private @Nullable ByteBuf unansweredPing;

    Heartbeat(ZMTPSession session, ChannelHandlerContext ctx, Link link) {
        this.config = session.config();
        this.session = session;
        this.ctx = ctx;
        this.link = link;
    }

    /** Starts sending PINGs, if an interval is configured. The peer speaks a version that answers them. */
    void start() {
        long nanos = config.heartbeatInterval().toNanos();
        if (nanos > 0) {
            interval = ctx.executor().scheduleWithFixedDelay(this::onInterval, nanos, nanos, TimeUnit.NANOSECONDS);
        }
    }

    void stop() {
        stopped = true;
        cancel(interval);
        cancel(timeout);
        cancel(ttl);
    }

    private static void cancel(@Nullable Future<?> task) {
        if (task != null) {
            task.cancel(false);
        }
    }

    /** The peer is alive: it has sent something, or takes what we send. */
    void onActivity() {
        activity++;
    }

    // Our PINGs

    private void onInterval() {
        try {
            pingWaiting = true;
            sendWaitingPing();
        } catch (Throwable e) { // no more would be sent: a periodic task that fails is not run again
            link.fail(e);
            return;
        }
        Duration silence = config.heartbeatTimeout();
        // That the PING could not be sent may have ended the connection.
        if (timeout == null && !silence.isZero() && !stopped) {
            timeout = expectActivity(silence, "after our PING", () -> timeout = null);
        }
    }

    /** Sends the PING that waits: at once, or as soon as the channel is writable. */
    void sendWaitingPing() {
        if (!pingWaiting) {
            return;
        }
        if (!link.canSend()) {
            link.retryAfterWrite();
            return;
        }
        pingWaiting = false;
        link.send(Command.ping(ctx.alloc(), (int) (config.heartbeatTtl().toMillis() / TTL_UNIT_MILLIS)));
        link.flush();
    }

    // The peer's PINGs

    /** The peer has sent a PING with this TTL, in tenths of a second, and this context. */
    void onPing(int ttlDeciseconds, ByteBuf context) {
        if (ttlDeciseconds > 0) {
            cancel(ttl);
            Duration silence = Duration.ofMillis(ttlDeciseconds * TTL_UNIT_MILLIS);
            ttl = expectActivity(silence, "after its PING, its own TTL", () -> ttl = null);
        }
        unansweredPing = copyOf(context);
        sendWaitingPong();
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
     * Sends the PONG that waits, if it can be sent now; returns whether it was, and is to be flushed. A peer that sends
     * PINGs and reads nothing must not make us queue PONGs: while unwritable, the newest waits alone.
     */
    boolean sendWaitingPong() {
        ByteBuf context = unansweredPing;
        if (context == null) {
            return false;
        }
        if (!link.canSend()) {
            link.retryAfterWrite();
            return false;
        }
        unansweredPing = null;
        link.send(Command.PONG.body(ctx.alloc(), context));
        return true;
    }

    /**
     * The channel has become writable or unwritable: the peer has taken bytes. A PONG leaves with the caller's flush.
     */
    void onWritabilityChanged() {
        onActivity();
        sendWaitingPong();
        sendWaitingPing();
    }

    // Silence

    /** Ends the connection unless there is activity within {@code silence}. */
    private ScheduledFuture<?> expectActivity(Duration silence, String since, Runnable onExpired) {
        long activityBefore = activity;
        long queuedBefore = ctx.channel().bytesBeforeWritable();
        Runnable check = () -> {
            onExpired.run();
            // A peer that takes what is queued is alive, although our PING may wait after that.
            boolean takes = ctx.channel().bytesBeforeWritable() < queuedBefore;
            if (!stopped && activity == activityBefore && !takes) {
                onSilence(silence, since);
            }
        };
        return ctx.executor().schedule(check, silence.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void onSilence(Duration silence, String since) {
        if (link.isListening()) { // otherwise the silence may be ours
            link.fail(new ZMTPException(
                    ZMTPException.Code.HEARTBEAT_TIMEOUT,
                    "silence of " + session.peer() + ": " + silence.toMillis() + " ms " + since
                            + " (expected: any byte)"));
        }
    }
}
