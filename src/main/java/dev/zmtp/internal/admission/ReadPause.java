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
 * The pause before the first read of a new connection, because a connection with its address was recently closed for
 * the memory budget. If the transport reads anyway, the pause ends, because the received data would have to be
 * retained.
 *
 * <p>Used only on the event loop of its connection.
 */
final class ReadPause {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.codec.ZMTPLimiter");

    private final ChannelHandlerContext ctx;

    /** Null once the pause is over, or if there was none. */
    private @Nullable Future<?> timer;

    private boolean readDue;

    /** Starts the rest of the pause of {@code peer}, limited to half of the handshake timeout. */
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

    /** Returns whether the requested read has to wait. It is issued when the pause ends. */
    boolean holdsRead() {
        readDue = timer != null;
        return readDue;
    }

    /** Ends the pause, because its time or the connection is over. */
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
