package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.wire.Command;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * PINGs and PONGs, and the end of a connection whose peer is gone (RFC 37, "Connection Heartbeating").
 *
 * <p>Our side: a PING in each interval, and an end to the connection if there is no sign of life within the timeout.
 * Whatever arrives is one. While our writes wait for the transport, what it takes of them is one too, because then the
 * peer has made room for it. The peer's side: a PONG for its PING, and if that names a TTL, an end if nothing arrives
 * within it.
 */
final class Heartbeat {

    private static final long TTL_UNIT_MILLIS = 100;

    /** What a heartbeat needs of the connection. */
    interface Link {

        /** Returns whether we are reading, so that silence is the peer's: false with auto-read off. */
        boolean isListening();

        /** Returns whether a write is going on, inside of which nothing can be sent. */
        boolean isWriting();

        /** Has {@link #sendWaitingPong} called when the write that is in progress is done. */
        void retryAfterWrite();

        /** Sends a command. It leaves with the next flush, or at the end of the read. Takes over {@code body}. */
        void send(ByteBuf body, ChannelPromise promise);

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
    private @Nullable PeerTimer timeout;
    private @Nullable PeerTimer ttl;
    private boolean stopped;

    /** The peer is known to answer PINGs, so that its silence means something. */
    private boolean answersPings;

    /** The transport has not yet written our last PING. No other is sent meanwhile: they must not pile up. */
    private boolean pingQueued;

    /** A PING has left since the timeout began. */
    private boolean pingLeft;

    /** Something has arrived since {@link #look}. */
    private boolean heard;

    /** Something has arrived since the peer's last PING. */
    private boolean heardSincePing;

    /** The transport has written a buffer of ours since {@link #look}. */
    private boolean wrote;

    /** What the transport was writing at {@link #look}: the hash of its first buffer, or 0 if it had none. */
    private int firstBefore;

    /** How much of that buffer it had written. */
    private long progressBefore;

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

    /** Starts sending PINGs, if an interval is configured and a peer of {@code version} is to get them. */
    void start(ZMTPVersion version) {
        answersPings = version.hasTrafficCommands();
        boolean asks = answersPings || (version.hasCommands() && config.heartbeatZmtp30Peers());
        long nanos = config.heartbeatInterval().toNanos();
        if (asks && nanos > 0) {
            interval = ctx.executor().scheduleWithFixedDelay(this::onInterval, nanos, nanos, TimeUnit.NANOSECONDS);
        }
    }

    void stop() {
        stopped = true;
        if (interval != null) {
            interval.cancel(false);
        }
        cancel(timeout);
        cancel(ttl);
    }

    private static void cancel(@Nullable PeerTimer timer) {
        if (timer != null) {
            timer.cancel();
        }
    }

    /** Something has arrived, or we were not reading, so that the peer was not silent. */
    void onActivity() {
        heard = true;
        heardSincePing = true;
    }

    /** The transport has written a buffer of ours. */
    void onWritten() {
        wrote = true;
    }

    // Our PINGs

    private void onInterval() {
        try {
            boolean restart = timeout == null || !timeout.isRunning() || isAlive();
            if (restart) {
                cancel(timeout);
                pingLeft = false;
            }
            look(); // before the PING, which may still be on its way to the transport afterwards
            sendPing();
            if (restart) {
                startTimeout();
            }
        } catch (Throwable e) { // no more would be sent: a periodic task that fails is not run again
            link.fail(e);
        }
    }

    /**
     * Sends a PING, whether or not the channel is writable: after what an unwritable one has queued, it still asks. At
     * most one waits there.
     */
    private void sendPing() {
        if (pingQueued || link.isWriting()) {
            return;
        }
        ByteBuf ping = Command.ping(ctx.alloc(), (int) (config.heartbeatTtl().toMillis() / TTL_UNIT_MILLIS));
        pingQueued = true;
        link.send(ping, ctx.newPromise().addListener(write -> onPingWritten()));
        link.flush();
    }

    /** The transport has written our PING. Only from now on can the peer answer. */
    private void onPingWritten() {
        pingQueued = false;
        if (!pingLeft) {
            pingLeft = true;
            if (timeout != null && timeout.isRunning()) {
                startTimeout();
            }
        }
    }

    private void startTimeout() {
        Duration silence = config.heartbeatTimeout();
        // That the PING could not be sent may have ended the connection.
        if (answersPings && !silence.isZero() && !stopped) {
            if (timeout == null) {
                timeout = new PeerTimer(ctx.executor(), config.nanoTime());
            }
            timeout.start(silence.toNanos(), late -> onTimeout());
        }
    }

    /** If the peer is alive, the next interval starts another timeout. */
    private void onTimeout() {
        if (!pingLeft && first() == 0) {
            startTimeout(); // a handler before the codec holds our PING, such as a traffic shaper
        } else if (!isAlive()) {
            String ms = config.heartbeatTimeout().toMillis() + " ms ";
            onSilence(
                    pingLeft
                            ? ms + "after our PING (expected: any byte)"
                            : ms + "without progress of our writes, a PING among them"
                                    + " (expected: any byte, either way)");
        }
    }

    // Signs of life

    /** Notes the state that {@link #isAlive} compares with. */
    private void look() {
        heard = false;
        wrote = false;
        firstBefore = first();
        progressBefore = progress();
    }

    /**
     * Returns whether there was a sign of life since {@link #look}.
     *
     * <p>A write that completes at once shows only that our kernel has room. A completed write is a sign of life only
     * if it had been waiting, because then the peer has read what came before it; or while our PING is still queued,
     * because the peer cannot answer it yet.
     */
    private boolean isAlive() {
        if (heard) {
            return true;
        }
        if (firstBefore == 0) {
            return wrote && !pingLeft;
        }
        // Not one of these alone: an SslHandler makes many buffers of one write, and buffers are used again.
        return wrote || first() != firstBefore || progress() != progressBefore;
    }

    private int first() {
        ChannelOutboundBuffer queue = ctx.channel().unsafe().outboundBuffer();
        return queue == null ? 0 : System.identityHashCode(queue.current());
    }

    private long progress() {
        ChannelOutboundBuffer queue = ctx.channel().unsafe().outboundBuffer();
        return queue == null ? 0 : queue.currentProgress();
    }

    // The peer's PINGs

    /** The peer has sent a PING with this TTL, in tenths of a second, and this context. */
    void onPing(int ttlDeciseconds, ByteBuf context) {
        answersPings = true;
        if (ttlDeciseconds > 0) {
            heardSincePing = false;
            Duration silence = Duration.ofMillis(ttlDeciseconds * TTL_UNIT_MILLIS);
            if (ttl == null) {
                ttl = new PeerTimer(ctx.executor(), config.nanoTime());
            }
            ttl.start(silence.toNanos(), late -> onTtl(silence));
        }
        unansweredPing = copyOf(context);
        sendWaitingPong();
    }

    private void onTtl(Duration silence) {
        if (!heardSincePing) {
            onSilence(silence.toMillis() + " ms after its PING, its own TTL (expected: any byte)");
        }
    }

    /** The peer has sent a PONG. */
    void onPong() {
        answersPings = true;
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
        if (link.isWriting()) {
            link.retryAfterWrite();
            return false;
        }
        if (!ctx.channel().isWritable()) {
            return false;
        }
        unansweredPing = null;
        link.send(Command.PONG.body(ctx.alloc(), context), ctx.newPromise());
        return true;
    }

    // The end

    private void onSilence(String what) {
        if (link.isListening()) { // otherwise the silence may be ours
            link.fail(new ZMTPException(
                    ZMTPException.Code.HEARTBEAT_TIMEOUT, "silence of " + session.peer() + ": " + what));
        }
    }
}
