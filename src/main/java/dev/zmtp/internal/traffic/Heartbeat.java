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
 * <p>Our side: a PING in each interval, and an end to the connection if nothing arrives within the timeout and there is
 * proof that the peer is gone. A peer that is slow has not answered yet, either, and its kernel makes room for our
 * writes in steps that may be minutes apart. So there are two proofs: the peer has had next to nothing to read before
 * our PING, or its kernel acknowledges nothing. The peer's side: a PONG for its PING, and if that names a TTL, an end
 * if nothing arrives within it.
 */
final class Heartbeat {

    static final long TTL_UNIT_MILLIS = 100;

    /** A peer that reads fewer bytes in a second than this may be taken for one that reads none. */
    private static final long SLOWEST = 128;

    /** A few commands, however short the timeout is. */
    private static final long LEAST_BEFORE_PING = 256;

    /** The context of a PING that asks again. The answer to it must not be taken for that to a later one. */
    private static final int AGAIN = 'a';

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

        /** Returns how many bytes were written, whether or not they have left. */
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

    /** Null before the peer has sent one. */
    private @Nullable PeerPings peerPings;

    private boolean stopped;

    /** The peer is known to answer PINGs, so that its silence means something. */
    private boolean answersPings;

    /** Something has arrived since the last interval began. */
    private boolean arrived;

    /** Our last PING, until the transport has written it. No other is sent meanwhile: they must not pile up. */
    private @Nullable ChannelFuture queuedPing;

    /** The PING whose answer counts; null if none is sent. */
    private @Nullable AwaitedPong awaited;

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

    /** Something has arrived, or we were not reading, so that the peer was not silent. */
    void onActivity() {
        arrived = true;
        if (peerPings != null) {
            peerPings.arrived();
        }
    }

    // Our PINGs

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
        } catch (Throwable e) { // no more would be sent: a periodic task that fails is not run again
            link.fail(e);
        }
    }

    /**
     * Returns whether a PING is of use, and does no harm. A peer that never sends PINGs may have written its last
     * messages and closed, while we do not read: then its kernel would answer with a reset, and drop those that it has
     * not sent yet. One that sends PINGs hears nothing else of us meanwhile, so it gets one in each interval. What we
     * have promised with a TTL is kept, too.
     */
    private boolean mayPing() {
        if (queuedPing != null || link.isWriting()) {
            return false;
        }
        if (!config.heartbeatTtl().isZero()) {
            return true;
        }
        return link.isListening() ? !(isAwaited() && answersPings) : peerPings != null;
    }

    private AwaitedPong awaited() {
        return Objects.requireNonNull(awaited, "we send PINGs");
    }

    /** Whether a PING of ours is not answered yet whose answer matters. */
    private boolean isAwaited() {
        return awaited().isOpen() && !config.heartbeatTimeout().isZero();
    }

    /**
     * Sends a PING, whether or not the channel is writable: after what an unwritable one has queued, it still asks. At
     * most one waits there.
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

    /** The transport has written our PING. Only from now on can the peer answer. */
    private void onPingWritten(boolean again) {
        queuedPing = null;
        if (!again && timeout != null) { // otherwise the first one is about to be started
            startTimeout();
        }
    }

    private void startTimeout() {
        startTimer(config.heartbeatTimeout());
    }

    private void startTimer(Duration time) {
        // That the PING could not be sent may have ended the connection.
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
        } else { // its kernel may fall silent at any time, which must be found within an interval more
            Duration interval = config.heartbeatInterval();
            startTimer(interval.compareTo(silence) < 0 ? interval : silence);
        }
    }

    /** How many bytes any peer that lives has read within the timeout. */
    private long mostBefore() {
        return Math.max(LEAST_BEFORE_PING, SLOWEST * config.heartbeatTimeout().toSeconds());
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

    /** The peer has sent a PONG with this context. */
    void onPong(ByteBuf context) {
        answersPings = true;
        if (awaited != null && !context.isReadable()) {
            awaited.answered();
        }
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
