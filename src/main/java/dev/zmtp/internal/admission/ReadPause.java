package dev.zmtp.internal.admission;

import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.Future;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The time in which nothing of a new connection is read, as one with its address was ended for the memory budget a
 * moment ago. If the transport reads nevertheless, it is over: what is read would have to be kept.
 *
 * <p>On the event loop of its connection only.
 */
final class ReadPause {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.codec.ZMTPLimiter");

    private final ChannelHandlerContext ctx;

    /** Null once it is over, or if there was none. */
    private @Nullable Future<?> timer;

    private boolean readDue;

    /**
     * Begins what is left of the pause of {@code peer}, but no more than half of the time that the handshake may take.
     */
    ReadPause(ChannelHandlerContext ctx, LimitedSession session, SocketAddress peer) {
        this.ctx = ctx;
        long nanos = ctx.channel().parent() == null ? 0 : session.ledger().pauseLeft(peer);
        if (nanos > 0) {
            Duration limit = session.config().handshakeTimeout();
            nanos = limit.isZero() ? nanos : Math.min(nanos, limit.toNanos() / 2);
            logger.debug(
                    "{} is not read for {} ms, as a connection with its address has exceeded the memory budget",
                    ctx.channel(),
                    TimeUnit.NANOSECONDS.toMillis(nanos));
            timer = ctx.executor().schedule(this::end, nanos, TimeUnit.NANOSECONDS);
        }
    }

    /** Returns whether the read that was just asked for has to wait. It is issued at the end. */
    boolean holdsRead() {
        readDue = timer != null;
        return readDue;
    }

    /** The pause is over, or the connection is. */
    void end() {
        if (timer == null) {
            return;
        }
        timer.cancel(false);
        timer = null;
        if (readDue && ctx.channel().isOpen()) {
            ctx.read();
        }
    }
}
