package dev.zmtp.codec;

import dev.zmtp.internal.admission.ConnectionRegistry;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.function.LongSupplier;

/**
 * Limits the number of concurrent connections of a server, in total, per address and per authenticated user. The limits
 * of {@link ZMTPConfig} bound the memory of each connection, so a bound on the number of connections also bounds their
 * memory together.
 *
 * <pre>{@code
 *   ZMTPConnectionLimiter limiter = new ZMTPConnectionLimiter(10_000, 500, 50); // one for all channels of the server
 *   ...
 *   ch.pipeline().addLast(limiter, ZMTPCodec.from(config), new MyHandler());
 * }</pre>
 *
 * <p>Add it first, before the {@link ZMTPCodec} and before an {@code SslHandler}. A connection counts from the moment
 * the limiter is added to its pipeline until the channel is closed. The limiter removes itself when the handshake is
 * complete. The connection still counts, even if another handler removed the limiter earlier.
 *
 * <p><b>Users.</b> When its handshake is complete, a connection also counts for the user ID assigned by the
 * authenticator ({@link ZMTPSession#userId()}). A connection that exceeds the user's limit is refused, so its
 * {@link ZMTPHandshakeSuccess} is followed by the end of the channel. A peer without a user ID counts for no user. A
 * dead connection counts until its end is detected, so enable heartbeats.
 *
 * <p>{@link ZMTPLimiter} describes which connection is dropped, how it is dropped, and which address it counts for.
 *
 * <p>Sharable and thread safe. Use a single instance for all channels that are counted together.
 */
@Sharable
public non-sealed class ZMTPConnectionLimiter extends ZMTPLimiter {

    /**
     * Creates a limiter with these limits, each at least 1. {@link Integer#MAX_VALUE} means no limit.
     *
     * @throws IllegalArgumentException if a limit is less than 1
     */
    public ZMTPConnectionLimiter(int maxTotal, int maxPerAddress, int maxPerUser) {
        this(maxTotal, maxPerAddress, maxPerUser, System::nanoTime);
    }

    /** Creates a limiter with this clock, for tests. */
    ZMTPConnectionLimiter(int maxTotal, int maxPerAddress, int maxPerUser, LongSupplier nanoTime) {
        super(
                InternalLoggerFactory.getInstance(ZMTPConnectionLimiter.class),
                new ConnectionRegistry("connections", maxTotal, maxPerAddress, nanoTime),
                ConnectionRegistry.atLeastOne("maxPerUser", maxPerUser));
    }

    /** Returns the current number of connections. */
    public final int connectionCount() {
        return count();
    }
}
