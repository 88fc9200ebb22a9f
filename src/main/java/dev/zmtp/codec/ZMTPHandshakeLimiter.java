package dev.zmtp.codec;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

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
 * <p><b>How.</b> {@link #refused} is called. The channel is closed with {@code SO_LINGER} 0 where the transport has
 * this option, so that the peer gets a reset and no socket is left in {@code TIME_WAIT}. Handlers get a {@link
 * ZMTPHandshakeFailure} with the code {@code CLOSED}.
 *
 * <p><b>Addresses.</b> IPv6 addresses are counted per /64, because one host usually controls a whole /64. A channel
 * without an internet address, such as one of a Unix domain socket, counts in total only. A connection counts for
 * {@link ZMTPCodec#PEER_ADDRESS} as soon as a handler has set it. Until then it counts for the address that it comes
 * from, which is the proxy's after a proxy: override {@link #peerAddress} there, so that it counts in total only.
 *
 * <p>Sharable and thread safe: use one for all channels that are counted together. To limit connections after their
 * handshake too, see {@link ZMTPConnectionLimiter}.
 */
@Sharable
public class ZMTPHandshakeLimiter extends ChannelInboundHandlerAdapter {

    private static final int DEFAULT_MAX_TOTAL = 1024;

    private static final int DEFAULT_MAX_PER_ADDRESS = 64;

    private final RateLimitedLog log = new RateLimitedLog(
            InternalLoggerFactory.getInstance(ZMTPHandshakeLimiter.class), InternalLogLevel.INFO, System::nanoTime);

    private final ConnectionGate gate;

    /** A limiter of 1,024 handshakes in total and 64 per address. */
    public ZMTPHandshakeLimiter() {
        this(DEFAULT_MAX_TOTAL, DEFAULT_MAX_PER_ADDRESS);
    }

    /**
     * A limiter with these limits, each at least 1.
     *
     * @throws IllegalArgumentException if one is less
     */
    @SuppressWarnings("this-escape") // nothing is called before a channel comes
    public ZMTPHandshakeLimiter(int maxTotal, int maxPerAddress) {
        ConnectionRegistry registry = new ConnectionRegistry("handshakes", maxTotal, maxPerAddress);
        gate = ConnectionGate.ofHandshakes(registry, channel -> peerAddress(channel), this::refused);
    }

    /** The number of connections that are in their handshake now. */
    public final int handshakes() {
        return gate.count();
    }

    /**
     * Returns the address that a connection counts for at present; null if it is not known yet, and the connection
     * counts in total only. By default {@link ZMTPCodec#PEER_ADDRESS} if a handler has set it, otherwise the channel's
     * remote address. Called on the channel's event loop, when the limiter is added and after each read.
     *
     * <p>After a proxy, all connections come from its address. Return null there until {@code PEER_ADDRESS} is set:
     *
     * <pre>{@code
     *   return channel.attr(ZMTPCodec.PEER_ADDRESS).get();
     * }</pre>
     */
    protected @Nullable SocketAddress peerAddress(Channel channel) {
        return ConnectionGate.peerAddress(channel);
    }

    /**
     * Called for a connection that is dropped, on its event loop, just before it is closed. Logs it at level info, at
     * most one line a second; a subclass may do something else. Add the limiter without an executor: on another thread
     * it would come too late.
     *
     * @param reason the limit that was exceeded, with the address if it is the limit per address
     */
    protected void refused(Channel channel, String reason) {
        log.log(channel, "refused: " + reason, null);
    }

    @Override
    public final void handlerAdded(ChannelHandlerContext ctx) {
        gate.added(ctx);
    }

    @Override
    public final void channelActive(ChannelHandlerContext ctx) {
        ctx.fireChannelActive();
        gate.progressed(ctx);
    }

    @Override
    public final void channelRead(ChannelHandlerContext ctx, Object msg) {
        ctx.fireChannelRead(msg);
        gate.progressed(ctx);
    }

    @Override
    public final void handlerRemoved(ChannelHandlerContext ctx) {
        gate.removed(ctx);
    }
}
