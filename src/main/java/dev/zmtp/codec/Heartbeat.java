package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPVersion;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Finds out that a peer is gone although its connection is not (RFC 37, "Connection Heartbeating").
 *
 * <p>Our side: a PING in each interval, and an end to the connection if nothing at all arrives within the timeout after
 * one. The peer's side: if its PING names a TTL, an end if nothing arrives within that.
 */
final class Heartbeat {

    private static final long TTL_UNIT_MILLIS = 100;

    private final TrafficPhase traffic;
    private final ZMTPConfig config;

    private @Nullable Future<?> interval;
    private @Nullable Future<?> timeout;
    private @Nullable Future<?> ttl;

    Heartbeat(TrafficPhase traffic) {
        this.traffic = traffic;
        this.config = traffic.codec.config();
    }

    /** Starts to send PINGs, if that is wanted and the peer is of an age to answer them. */
    void start() {
        long nanos = config.heartbeatInterval().toNanos();
        if (nanos > 0 && traffic.version() == ZMTPVersion.ZMTP31) {
            interval = traffic.codec
                    .ctx()
                    .executor()
                    .scheduleWithFixedDelay(this::ping, nanos, nanos, TimeUnit.NANOSECONDS);
        }
    }

    private void ping() {
        try {
            traffic.ping();
        } catch (Throwable e) { // no more would be sent: a periodic task that fails is not run again
            traffic.codec.fail(e);
            return;
        }
        Duration silence = config.heartbeatTimeout();
        // That the PING could not be sent may have ended the connection.
        if (timeout == null && !silence.isZero() && traffic.isCurrent()) {
            timeout = expect(silence, "after our PING", () -> timeout = null);
        }
    }

    /** What our PINGs demand of the peer, in tenths of a second. */
    int ttlDeciseconds() {
        return (int) (config.heartbeatTtl().toMillis() / TTL_UNIT_MILLIS);
    }

    /** The peer sent a PING with this TTL, in tenths of a second. */
    void pinged(int ttlDeciseconds) {
        if (ttlDeciseconds > 0) {
            cancel(ttl);
            ttl = expect(
                    Duration.ofMillis(ttlDeciseconds * TTL_UNIT_MILLIS),
                    "after its PING, its own TTL",
                    () -> ttl = null);
        }
    }

    /** Ends the connection unless something arrives within {@code silence}. */
    private ScheduledFuture<?> expect(Duration silence, String what, Runnable over) {
        long activity = traffic.activity();
        long queued = traffic.codec.ctx().channel().bytesBeforeWritable();
        Runnable check = () -> {
            over.run();
            // A peer that takes what is queued is alive, although our PING may wait behind that.
            boolean taken = traffic.codec.ctx().channel().bytesBeforeWritable() < queued;
            if (traffic.isCurrent() && traffic.activity() == activity && !taken) {
                silent(silence, what);
            }
        };
        return traffic.codec.ctx().executor().schedule(check, silence.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void silent(Duration silence, String what) {
        if (!traffic.codec.isListening()) {
            return; // with auto-read off, the silence may be ours
        }
        traffic.codec.fail(new ZMTPException(
                ZMTPException.Code.HEARTBEAT_TIMEOUT,
                "silence of " + traffic.codec.peer() + ": " + silence.toMillis() + " ms " + what
                        + " (expected: any octet)"));
    }

    void stop() {
        cancel(interval);
        cancel(timeout);
        cancel(ttl);
    }

    private static void cancel(@Nullable Future<?> task) {
        if (task != null) {
            task.cancel(false);
        }
    }
}
