package dev.zmtp.internal.traffic;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.connection.Connection;
import dev.zmtp.internal.connection.PeerTimer;
import dev.zmtp.internal.connection.Session;
import dev.zmtp.internal.wire.Command;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
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

    static final long TTL_UNIT_MILLIS = 100;

    /** The part of the connection that a heartbeat needs. */
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
    private final Session session;
    private final ChannelHandlerContext ctx;
    private final LongSupplier nanoTime;
    private final Link link;

    private @Nullable Future<?> interval;
    private @Nullable PeerTimer timeout;

    /** Null if we send no PINGs. */
    private @Nullable SignsOfLife signs;

    /** Null before the peer has sent one. */
    private @Nullable PeerPings peerPings;

    private boolean stopped;

    /** The peer is known to answer PINGs, so that its silence means something. */
    private boolean answersPings;

    /** Our last PING, until the transport has written it. No other is sent meanwhile: they must not pile up. */
    private @Nullable ChannelFuture queuedPing;

    /** A PING has left since the timeout began. */
    private boolean pingLeft;

    Heartbeat(Connection connection, Link link) {
        this.config = connection.config();
        this.session = connection.session();
        this.ctx = connection.ctx();
        this.nanoTime = connection.nanoTime();
        this.link = link;
    }

    /** Starts sending PINGs, if an interval is configured and a peer of {@code version} is to get them. */
    void start(ZMTPVersion version) {
        answersPings = version.hasTrafficCommands();
        boolean asks = answersPings || (version.hasCommands() && config.heartbeatZmtp30Peers());
        long nanos = config.heartbeatInterval().toNanos();
        if (asks && nanos > 0) {
            signs = new SignsOfLife(ctx);
            interval = ctx.executor().scheduleWithFixedDelay(this::onInterval, nanos, nanos, TimeUnit.NANOSECONDS);
        }
    }

    void stop() {
        stopped = true;
        if (interval != null) {
            interval.cancel(false);
        }
        cancelTimeout();
        if (peerPings != null) {
            peerPings.stop();
        }
    }

    private void cancelTimeout() {
        if (timeout != null) {
            timeout.cancel();
        }
    }

    /** Something has arrived, or we were not reading, so that the peer was not silent. */
    void onActivity() {
        if (signs != null) {
            signs.arrived();
        }
        if (peerPings != null) {
            peerPings.arrived();
        }
    }

    /** The transport has written a buffer of ours. */
    void onWritten() {
        if (signs != null) {
            signs.written();
        }
    }

    // Our PINGs

    private void onInterval() {
        try {
            boolean restart = timeout == null || !timeout.isRunning() || isAlive();
            if (restart) {
                cancelTimeout();
                pingLeft = false;
            }
            signs().look(); // before the PING, which may still be on its way to the transport afterwards
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
        if (queuedPing != null || link.isWriting()) {
            return;
        }
        ByteBuf ping = Command.ping(ctx.alloc(), (int) (config.heartbeatTtl().toMillis() / TTL_UNIT_MILLIS));
        ChannelPromise written = ctx.newPromise();
        queuedPing = written;
        written.addListener(write -> onPingWritten());
        link.send(ping, written);
        link.flush();
    }

    /** The transport has written our PING. Only from now on can the peer answer. */
    private void onPingWritten() {
        queuedPing = null;
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
                timeout = new PeerTimer(ctx.executor(), nanoTime);
            }
            timeout.start(silence.toNanos(), late -> onTimeout());
        }
    }

    /** If the peer is alive, the next interval starts another timeout. */
    private void onTimeout() {
        if (!pingLeft && !signs().isWriteWaiting()) {
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

    private boolean isAlive() {
        return signs().isAlive(pingLeft);
    }

    private SignsOfLife signs() {
        return Objects.requireNonNull(signs, "we send PINGs");
    }

    // The peer's PINGs

    /** The peer has sent a PING with this TTL, in tenths of a second, and this context. */
    void onPing(int ttlDeciseconds, ByteBuf context) {
        answersPings = true;
        if (peerPings == null) {
            peerPings = new PeerPings(ctx, nanoTime, link, this::onSilence);
        }
        peerPings.onPing(ttlDeciseconds, context);
    }

    /** The peer has sent a PONG. */
    void onPong() {
        answersPings = true;
    }

    /** Sends the PONG that waits, if it can be sent now; returns whether it was, and is to be flushed. */
    boolean sendWaitingPong() {
        return peerPings != null && peerPings.sendWaitingPong();
    }

    // The end

    private void onSilence(String what) {
        if (link.isListening()) { // otherwise the silence may be ours
            link.fail(new ZMTPException(
                    ZMTPException.Code.HEARTBEAT_TIMEOUT, "silence of " + session.peer() + ": " + what));
        }
    }
}
