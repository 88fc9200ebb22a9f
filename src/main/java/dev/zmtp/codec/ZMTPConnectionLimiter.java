package dev.zmtp.codec;

import dev.zmtp.internal.admission.ConnectionRegistry;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.function.LongSupplier;

/**
 * Limits how many connections a server has at one time: in total, per address, and per authenticated user. So it bounds
 * the memory of all connections together, as each of them is bounded by the limits of its {@link ZMTPConfig}.
 *
 * <pre>{@code
 *   ZMTPConnectionLimiter limiter = new ZMTPConnectionLimiter(10_000, 500, 50); // one for all channels of the server
 *   ...
 *   ch.pipeline().addLast(limiter, ZMTPCodec.from(config), new MyHandler());
 * }</pre>
 *
 * <p>Add it first, before the {@link ZMTPCodec} and before an {@code SslHandler}. A connection counts from the moment
 * that the limiter is added to its pipeline until the channel is closed. The limiter leaves the pipeline when the
 * handshake is over; the connection counts on. It also does if another handler removes the limiter.
 *
 * <p><b>Users.</b> When its handshake is complete, a connection also counts for the user id that the authenticator gave
 * it ({@link ZMTPSession#userId()}). If that is one too many for the user, it is refused: the {@link
 * ZMTPHandshakeSuccess} is followed by the end of the channel. A peer without a user id counts for no user. A
 * dead connection counts until it is detected: enable heartbeats.
 *
 * <p>Which connection is dropped for another, how, and which address it counts for, is said at {@link ZMTPLimiter}.
 *
 * <p>Sharable and thread safe: use one for all channels that are counted together.
 */
@Sharable
public non-sealed class ZMTPConnectionLimiter extends ZMTPLimiter {

    /**
     * A limiter with these limits, each at least 1. {@link Integer#MAX_VALUE} is no limit.
     *
     * @throws IllegalArgumentException if one is less
     */
    public ZMTPConnectionLimiter(int maxTotal, int maxPerAddress, int maxPerUser) {
        this(maxTotal, maxPerAddress, maxPerUser, System::nanoTime);
    }

    /** A limiter with this clock, for tests. */
    ZMTPConnectionLimiter(int maxTotal, int maxPerAddress, int maxPerUser, LongSupplier nanoTime) {
        super(
                InternalLoggerFactory.getInstance(ZMTPConnectionLimiter.class),
                new ConnectionRegistry("connections", maxTotal, maxPerAddress, nanoTime),
                ConnectionRegistry.atLeastOne("maxPerUser", maxPerUser));
    }

    /** The number of connections now. */
    public final int connections() {
        return count();
    }
}
