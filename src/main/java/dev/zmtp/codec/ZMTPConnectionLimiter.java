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
 * <p><b>Which connection is dropped.</b> A connection whose handshake is complete is never dropped for another. If a
 * new connection is one too many for its address, the oldest handshake of that address makes room; if it is one too
 * many in total, the oldest handshake of the address that has most of them. Only if there is no handshake is the new
 * connection refused. So idle strangers cannot keep others out. A handshake that waits for this side is passed over, as
 * by the {@link ZMTPHandshakeLimiter}.
 *
 * <p><b>Users.</b> When its handshake is complete, a connection also counts for the user id that the authenticator gave
 * it ({@link ZMTPSession#userId()}). If that is one too many for the user, it is refused: the {@link
 * ZMTPHandshakeSuccess} is followed by the end of the channel. A peer without a user id counts for no user. A
 * dead connection counts until it is detected: enable heartbeats.
 *
 * <p><b>How.</b> {@link #refused} is called. The channel is closed with {@code SO_LINGER} 0 where the transport has
 * this option, so that the peer gets a reset and no socket is left in {@code TIME_WAIT}.
 *
 * <p><b>Addresses.</b> IPv6 addresses are counted per /64. A channel without an internet address, such as one of a Unix
 * domain socket, counts in total only. A connection counts for {@link ZMTPCodec#PEER_ADDRESS} as soon as a handler has
 * set it. After a proxy, override {@link #peerAddress}.
 *
 * <p>Sharable and thread safe: use one for all channels that are counted together.
 */
@Sharable
public class ZMTPConnectionLimiter extends ChannelInboundHandlerAdapter {

    private final RateLimitedLog log = new RateLimitedLog(
            InternalLoggerFactory.getInstance(ZMTPConnectionLimiter.class), InternalLogLevel.INFO, System::nanoTime);

    private final ConnectionGate gate;

    /**
     * A limiter with these limits, each at least 1. {@link Integer#MAX_VALUE} is no limit.
     *
     * @throws IllegalArgumentException if one is less
     */
    @SuppressWarnings("this-escape") // nothing is called before a channel comes
    public ZMTPConnectionLimiter(int maxTotal, int maxPerAddress, int maxPerUser) {
        ConnectionRegistry registry = new ConnectionRegistry("connections", maxTotal, maxPerAddress);
        gate = ConnectionGate.ofConnections(registry, maxPerUser, channel -> peerAddress(channel), this::refused);
    }

    /** The number of connections now. */
    public final int connections() {
        return gate.count();
    }

    /**
     * Returns the address that a connection counts for at present; null if it is not known yet, and the connection
     * counts in total only. By default {@link ZMTPCodec#PEER_ADDRESS} if a handler has set it, otherwise the channel's
     * remote address. Called on the channel's event loop, when the limiter is added, after each read of the handshake,
     * and at its end.
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
     * @param reason the limit that was exceeded, with the address or the user id if it is a limit for these
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
