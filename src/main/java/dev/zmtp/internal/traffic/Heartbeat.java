package dev.zmtp.internal.traffic;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPSocketType;
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
 * <p>This side sends a PING in each interval. It ends the connection if nothing arrives within the timeout and there is
 * proof that the peer is gone. A slow peer has not replied yet either, and its kernel makes room for the writes of this
 * side in steps that can be minutes apart. There are therefore two proofs: the peer has had almost nothing to read
 * before the PING, or its kernel acknowledges nothing. For a PING of the peer, this side sends a PONG. If the PING has
 * a TTL, this side ends the connection if nothing arrives within it.
 */
final class Heartbeat {

    static final long TTL_UNIT_MILLIS = 100;

    /** Minimum rate in bytes per second. A slower peer can be treated like a peer that reads nothing. */
    private static final long SLOWEST = 128;

    /** A few commands, regardless of how short the timeout is. */
    private static final long LEAST_BEFORE_PING = 256;

    /** The context of a repeated PING. Its PONG must not be confused with that of a later PING. */
    private static final int AGAIN = 'a';

    /** The part of the connection that a heartbeat needs. */
    interface Link {

        /** Returns whether this side is reading, so that silence is the peer's. False with auto-read off. */
        boolean isListening();

        /** Returns whether a write is in progress, during which nothing can be sent. */
        boolean isWriting();

        /** Schedules a call of {@link #sendWaitingPong} after the write in progress. */
        void retryAfterWrite();

        /** Sends a command with the next flush, or at the end of the read. Takes ownership of {@code body}. */
        void send(ByteBuf body, ChannelPromise promise);

        /** Flushes the written data. */
        void flush();

        /** Returns the number of bytes written, whether sent or not. */
        long bytesWritten();

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

    /** Null until the peer has sent a PING. */
    private @Nullable PeerPings peerPings;

    private boolean stopped;

    /** True if the peer is known to reply to PINGs, so that its silence is significant. */
    private boolean answersPings;

    /** True if data has arrived since the last interval began. */
    private boolean arrived;

    /**
     * The last PING of this side, until the transport has written it. No further PING is sent in the meantime, because
     * PINGs must not accumulate.
     */
    private @Nullable ChannelFuture queuedPing;

    /** The PING whose PONG counts; null if no PINGs are sent. */
    private @Nullable AwaitedPong awaited;

    Heartbeat(Connection connection, Link link) {
        this.config = connection.config();
        this.session = connection.session();
        this.ctx = connection.ctx();
        this.nanoTime = connection.nanoTime();
        this.link = link;
    }

    /** Starts sending PINGs, if an interval is configured and a peer of {@code version} is to receive them. */
    void start(ZMTPVersion version) {
        answersPings = version.hasTrafficCommands();
        boolean asks = answersPings || (version.hasCommands() && config.heartbeatZMTP30Peers());
        long nanos = config.heartbeatInterval().toNanos();
        if (asks && nanos > 0) {
            awaited = new AwaitedPong();
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

    /** Called when data has arrived. */
    void onActivity() {
        arrived = true;
        if (peerPings != null) {
            peerPings.arrived();
        }
    }

    /** Called when this side reads again, so that the peer was not silent in the meantime. */
    void onResumed() {
        arrived = true;
        if (peerPings != null) {
            peerPings.resumed();
        }
    }

    // PINGs of this side

    private void onInterval() {
        try {
            boolean restart = timeout == null || !timeout.isRunning() || arrived;
            if (restart) {
                cancelTimeout();
            }
            arrived = false;
            if (mayPing()) {
                sendPing();
            }
            if (restart) {
                startTimeout();
            }
        } catch (Throwable e) { // no more PINGs would be sent, because a periodic task that fails is not run again
            link.fail(e);
        }
    }

    /**
     * Returns whether a PING is useful and harmless. A peer that never sends PINGs can have written its last messages
     * and closed while this side does not read. Its kernel would then reply to a PING with a reset, and drop the
     * messages that it has not sent yet. A peer that sends PINGs receives no other data in the meantime, so it receives
     * a PING in each interval, and so does a peer whose PINGs might not have been read. A TTL that this side has
     * announced is kept, too. A DISH of libzmq or JeroMQ treats a
     * PING as a message without a group, which ends its connection for good. A DISH of this library sends PINGs, and
     * understands them.
     */
    private boolean mayPing() {
        if (queuedPing != null || link.isWriting()) {
            return false;
        }
        if (config.socketType() == ZMTPSocketType.RADIO && peerPings == null) {
            return false;
        }
        if (!config.heartbeatTtl().isZero()) {
            return true;
        }
        return link.isListening() ? !(isAwaited() && answersPings) : peerPings != null || session.pingsUnread();
    }

    private AwaitedPong awaited() {
        return Objects.requireNonNull(awaited, "we send PINGs");
    }

    /** Returns whether a PING of this side has no PONG yet and the PONG matters. */
    private boolean isAwaited() {
        return awaited().isOpen() && !config.heartbeatTimeout().isZero();
    }

    /**
     * Sends a PING, whether or not the channel is writable. On an unwritable channel the PING is sent after the queued
     * data, and still works. At most one PING waits there.
     */
    private void sendPing() {
        boolean again = isAwaited();
        ByteBuf ping = Command.ping(ctx.alloc(), (int) (config.heartbeatTtl().toMillis() / TTL_UNIT_MILLIS));
        if (again) {
            ping.writeByte(AGAIN);
        }
        ChannelPromise written = ctx.newPromise();
        queuedPing = written;
        written.addListener(write -> onPingWritten(again));
        link.send(ping, written);
        if (!again) {
            awaited().asked(link.bytesWritten());
        }
        link.flush();
    }

    /** Called when the transport has written the PING. The peer can reply only from now on. */
    private void onPingWritten(boolean again) {
        queuedPing = null;
        if (!again && timeout != null) { // otherwise the first timeout is about to start
            startTimeout();
        }
    }

    private void startTimeout() {
        startTimer(config.heartbeatTimeout());
    }

    private void startTimer(Duration time) {
        // A failure to send the PING can have ended the connection.
        if (!time.isZero() && !stopped) {
            if (timeout == null) {
                timeout = new PeerTimer(ctx.executor(), nanoTime);
            }
            timeout.start(time.toNanos(), late -> onTimeout());
        }
    }

    private void onTimeout() {
        if (arrived) {
            return; // the next interval starts another timeout
        }
        Duration silence = config.heartbeatTimeout();
        long millis = silence.toMillis();
        if (PeerTcp.isSilent(ctx.channel(), millis)) {
            onSilence(millis + " ms without an acknowledgement of what we sent (expected: one by its TCP)");
        } else if (answersPings
                && awaited().isOpen()
                && queuedPing == null
                && awaited().bytesBefore() <= mostBefore()) {
            onSilence(millis + " ms after our PING (expected: any byte)");
        } else { // the peer's kernel can fall silent at any time, which must be detected within another interval
            Duration interval = config.heartbeatInterval();
            startTimer(interval.compareTo(silence) < 0 ? interval : silence);
        }
    }

    /** Maximum number of bytes that every live peer has read within the timeout. */
    private long mostBefore() {
        return Math.max(LEAST_BEFORE_PING, SLOWEST * config.heartbeatTimeout().toSeconds());
    }

    // PINGs of the peer

    /** Called when the peer has sent a PING with this TTL, in tenths of a second, and this context. */
    void onPing(int ttlDeciseconds, ByteBuf context) {
        knowsPings();
        if (peerPings == null) {
            peerPings = new PeerPings(ctx, nanoTime, link, this::onSilence);
        }
        peerPings.onPing(ttlDeciseconds, context);
    }

    private void knowsPings() {
        answersPings = true;
        session.pinged();
    }

    /** Called when the peer has sent a PONG with this context. */
    void onPong(ByteBuf context) {
        knowsPings();
        if (awaited != null) {
            long uncertain = Command.uncertain(context);
            if (uncertain >= 0) {
                awaited.answeredUncertainly(uncertain);
            } else if (!context.isReadable()) {
                awaited.answered();
            }
        }
    }

    /** Sends the waiting PONG if it can be sent now. Returns whether it was sent and has to be flushed. */
    boolean sendWaitingPong() {
        return peerPings != null && peerPings.sendWaitingPong();
    }

    // The end

    private void onSilence(String what) {
        if (link.isListening()) { // otherwise this side can be the reason for the silence
            link.fail(new ZMTPException(
                    ZMTPException.Code.HEARTBEAT_TIMEOUT, "silence of " + session.peer() + ": " + what));
        }
    }
}
