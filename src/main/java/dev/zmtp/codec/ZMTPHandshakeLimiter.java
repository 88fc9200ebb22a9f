package dev.zmtp.codec;

import dev.zmtp.internal.admission.ConnectionRegistry;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.util.internal.logging.InternalLoggerFactory;

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
 * <p><b>Which connection is dropped.</b> A new connection is always let in. If it is one too many for its address, the
 * oldest handshake of that address is dropped; if it is one too many in total, the oldest one of the address that has
 * most handshakes. An honest peer needs a few round trips, so what has been in its handshake longest is almost surely
 * idle. A handshake that waits for this side, because a mechanism computes or an authenticator decides, is passed over
 * if another one can be found near it. In a flood, a handshake survives until {@code maxPerAddress} newer ones come
 * from its address, or {@code maxTotal} from all addresses.
 *
 * <p>How one is dropped, and which address it counts for, is said at {@link ZMTPLimiter}.
 *
 * <p>Sharable and thread safe: use one for all channels that are counted together. To limit connections after their
 * handshake too, see {@link ZMTPConnectionLimiter}.
 */
@Sharable
public non-sealed class ZMTPHandshakeLimiter extends ZMTPLimiter {

    static final int DEFAULT_MAX_TOTAL = 1024;

    static final int DEFAULT_MAX_PER_ADDRESS = 64;

    /** A limiter of 1,024 handshakes in total and 64 per address. */
    public ZMTPHandshakeLimiter() {
        this(DEFAULT_MAX_TOTAL, DEFAULT_MAX_PER_ADDRESS);
    }

    /**
     * A limiter with these limits, each at least 1.
     *
     * @throws IllegalArgumentException if one is less
     */
    public ZMTPHandshakeLimiter(int maxTotal, int maxPerAddress) {
        super(
                InternalLoggerFactory.getInstance(ZMTPHandshakeLimiter.class),
                new ConnectionRegistry("handshakes", maxTotal, maxPerAddress),
                0);
    }

    /** The number of connections that are in their handshake now. */
    public final int handshakes() {
        return count();
    }
}
