package dev.zmtp.codec;

import dev.zmtp.internal.admission.ConnectionRegistry;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.function.LongSupplier;

/**
 * Limits how many connections of a server may be in their handshake at one time, in total and per address. A host that
 * opens connections and leaves them idle can neither exhaust the server nor keep others out.
 *
 * <pre>{@code
 *   ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter(); // one for all channels of the server
 *   ...
 *   ch.pipeline().addLast(limiter, ZMTPCodec.from(config), new MyHandler());
 * }</pre>
 *
 * <p>Add it first, before the {@link ZMTPCodec} and before an {@code SslHandler}, whose handshake is counted too. A
 * connection counts from the moment that the limiter is added to its pipeline until the handshake of its codec is over
 * or the channel is closed; then the limiter leaves the pipeline. A handler that detects another protocol removes the
 * limiter.
 *
 * <p>Which connection is dropped for another, how, and which address it counts for, is said at {@link ZMTPLimiter}.
 *
 * <p>Sharable and thread safe: use one for all channels that are counted together. To limit connections after their
 * handshake too, see {@link ZMTPConnectionLimiter}.
 */
@Sharable
public non-sealed class ZMTPHandshakeLimiter extends ZMTPLimiter {

    static final int DEFAULT_MAX_TOTAL = 4096;

    /** As many as a thousand clients behind one address need that come back together after a restart. */
    static final int DEFAULT_MAX_PER_ADDRESS = 1024;

    /** A limiter of 4,096 handshakes in total and 1,024 per address. */
    public ZMTPHandshakeLimiter() {
        this(DEFAULT_MAX_TOTAL, DEFAULT_MAX_PER_ADDRESS);
    }

    /**
     * A limiter with these limits, each at least 1.
     *
     * @throws IllegalArgumentException if one is less
     */
    public ZMTPHandshakeLimiter(int maxTotal, int maxPerAddress) {
        this(maxTotal, maxPerAddress, System::nanoTime);
    }

    /** A limiter with this clock, for tests. */
    ZMTPHandshakeLimiter(int maxTotal, int maxPerAddress, LongSupplier nanoTime) {
        super(
                InternalLoggerFactory.getInstance(ZMTPHandshakeLimiter.class),
                new ConnectionRegistry("handshakes", maxTotal, maxPerAddress, nanoTime),
                0);
    }

    /** The number of connections that are in their handshake now. */
    public final int handshakes() {
        return count();
    }
}
