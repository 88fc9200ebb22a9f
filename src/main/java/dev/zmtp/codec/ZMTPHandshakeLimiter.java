package dev.zmtp.codec;

import dev.zmtp.internal.admission.ConnectionRegistry;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.function.LongSupplier;

/**
 * Limits the number of concurrent handshakes of a server, in total and per address. A host that opens connections and
 * leaves them idle can therefore neither exhaust the server nor keep other hosts out.
 *
 * <pre>{@code
 *   ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter(); // one for all channels of the server
 *   ...
 *   ch.pipeline().addLast(limiter, ZMTPCodec.from(config), new MyHandler());
 * }</pre>
 *
 * <p>Add it first, before the {@link ZMTPCodec} and before an {@code SslHandler}, whose handshake is counted too. A
 * connection counts from the moment the limiter is added to its pipeline until the handshake of its codec is over or
 * the channel is closed. The limiter then removes itself. A handler that detects another protocol should remove the
 * limiter.
 *
 * <p>{@link ZMTPLimiter} describes which connection is dropped, how it is dropped, and which address it counts for.
 *
 * <p>Sharable and thread safe. Use a single instance for all channels that are counted together. To limit connections
 * after their handshake too, see {@link ZMTPConnectionLimiter}.
 */
@Sharable
public non-sealed class ZMTPHandshakeLimiter extends ZMTPLimiter {

    static final int DEFAULT_MAX_TOTAL = 4096;

    /**
     * Default limit per address, sufficient for a thousand clients behind one address that reconnect after a restart.
     */
    static final int DEFAULT_MAX_PER_ADDRESS = 1024;

    /** Creates a limiter of 4,096 handshakes in total and 1,024 per address. */
    public ZMTPHandshakeLimiter() {
        this(DEFAULT_MAX_TOTAL, DEFAULT_MAX_PER_ADDRESS);
    }

    /**
     * Creates a limiter with these limits, each at least 1.
     *
     * @throws IllegalArgumentException if a limit is less than 1
     */
    public ZMTPHandshakeLimiter(int maxTotal, int maxPerAddress) {
        this(maxTotal, maxPerAddress, System::nanoTime);
    }

    /** Creates a limiter with this clock, for tests. */
    ZMTPHandshakeLimiter(int maxTotal, int maxPerAddress, LongSupplier nanoTime) {
        super(
                InternalLoggerFactory.getInstance(ZMTPHandshakeLimiter.class),
                new ConnectionRegistry("handshakes", maxTotal, maxPerAddress, nanoTime),
                0);
    }

    /** Returns the current number of connections in their handshake. */
    public final int handshakeCount() {
        return count();
    }
}
