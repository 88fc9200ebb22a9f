package dev.zmtp.codec;

import dev.zmtp.internal.admission.ConnectionGate;
import dev.zmtp.internal.admission.ConnectionRegistry;
import dev.zmtp.internal.admission.PeerAddress;
import dev.zmtp.internal.runtime.RateLimitedLog;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLogger;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Base class of {@link ZMTPHandshakeLimiter} and {@link ZMTPConnectionLimiter}, which count the connections of a server
 * and drop some when there are too many.
 *
 * <p>Add it first, before the {@link ZMTPCodec} and before an {@code SslHandler}. It removes itself when the handshake
 * of the codec is over. A handler that detects another protocol removes it.
 *
 * <p><b>Selection.</b> A connection whose handshake is complete is never dropped in favor of another connection. If a
 * new connection exceeds the limit of its address, the limiter drops the handshake of that address whose peer has kept
 * this side waiting longest, provided that the wait is at least two seconds. If there is no such handshake, the new
 * connection is refused. The wait is counted from the last answer of this side. Idle strangers can therefore keep other
 * peers of their address out for two seconds. Any number of honest peers that connect at the same time are admitted
 * successively, because a peer that reconnects after a refusal is admitted as soon as another peer has completed its
 * handshake.
 *
 * <p>If a new connection exceeds the total limit, the same search is made at the addresses with the most handshakes. If
 * it finds nothing, an address with fewer handshakes displaces an address with more. No address can therefore keep
 * others out. A handshake that waits for this side, because a mechanism computes or an authenticator decides, is passed
 * over.
 *
 * <p><b>Dropping.</b> {@link #connectionRefused} is called. The channel is closed with {@code SO_LINGER} 0 where the
 * transport has this option, so that the peer receives a reset and no socket remains in {@code TIME_WAIT}. If the
 * connection was in its handshake, handlers receive a {@link ZMTPHandshakeFailure} with the code {@code CLOSED}.
 *
 * <p><b>Addresses.</b> IPv6 addresses are counted per /64, because one host usually controls a whole /64. A channel
 * without an internet address, such as a Unix domain socket channel, counts in total only. A connection counts for
 * {@link ZMTPCodec#PEER_ADDRESS} as soon as a handler has set it. Until then it counts for the address that it comes
 * from, which behind a proxy is the proxy's. In that case override {@link #peerAddress}, so that the connection counts
 * in total only.
 *
 * <p><b>Returning peers.</b> If a connection was ended for the {@link ZMTPMemoryBudget}, its peer is likely to return
 * at once and to send the same again. Newly accepted connections with its address (IPv6: with its /64) are then not
 * read for a second, or for up to eight seconds if this happens repeatedly, but for at most half of the
 * {@link ZMTPConfig#handshakeTimeout()}. Other addresses are not delayed. The decision is made once per connection,
 * when its address is known. Behind a proxy whose header does not set {@code PEER_ADDRESS}, all connections through the
 * proxy are delayed.
 *
 * <p>Sharable and thread safe. Use a single instance for all channels that are counted together.
 */
@Sharable
public abstract sealed class ZMTPLimiter extends ChannelDuplexHandler
        permits ZMTPConnectionLimiter, ZMTPHandshakeLimiter {

    private final RateLimitedLog log;
    private final ConnectionGate gate;

    /**
     * Creates a limiter that drops the connections selected by {@code registry}.
     *
     * @param logger its name is known to operators, so it is not that of a subclass
     * @param maxPerUser the limit per user if connections count for life; 0 if they count during the handshake
     */
    @SuppressWarnings("this-escape") // nothing is called before a channel comes
    ZMTPLimiter(InternalLogger logger, ConnectionRegistry registry, int maxPerUser) {
        log = new RateLimitedLog(logger, InternalLogLevel.INFO, System::nanoTime);
        gate = new ConnectionGate(
                registry, maxPerUser, ZMTPCodec::sessionIn, channel -> peerAddress(channel), this::connectionRefused);
    }

    /** Returns the number of connections that currently count. */
    final int count() {
        return gate.count();
    }

    /**
     * Returns the address that a connection currently counts for, or null if the address is not known yet and the
     * connection counts in total only. By default it is {@link ZMTPCodec#PEER_ADDRESS} if a handler has set it,
     * otherwise the channel's remote address. Called on the channel's event loop, when the limiter is added, after each
     * read of the handshake, and at its end.
     *
     * <p>Behind a proxy, all connections come from the proxy's address. In that case return null until
     * {@code PEER_ADDRESS} is set:
     *
     * <pre>{@code
     *   return channel.attr(ZMTPCodec.PEER_ADDRESS).get();
     * }</pre>
     */
    protected @Nullable SocketAddress peerAddress(Channel channel) {
        return PeerAddress.of(channel);
    }

    /**
     * Called for a dropped connection, on its event loop, just before it is closed. The default implementation logs the
     * reason at level info, at most one line a second, and a subclass can replace this. Add the limiter without an
     * executor, because on another thread the call would be too late.
     *
     * @param reason the exceeded limit, with the address or the user ID if the limit is per address or per user
     */
    protected void connectionRefused(Channel channel, String reason) {
        log.log(channel, "refused: " + reason, null);
    }

    @Override
    public final void handlerAdded(ChannelHandlerContext ctx) {
        gate.added(ctx);
    }

    @Override
    public final void channelActive(ChannelHandlerContext ctx) {
        ctx.fireChannelActive();
        gate.connected(ctx);
    }

    @Override
    public final void read(ChannelHandlerContext ctx) {
        if (!gate.holdsRead(ctx)) {
            ctx.read();
        }
    }

    @Override
    public final void channelRead(ChannelHandlerContext ctx, Object msg) {
        gate.arrived(ctx);
        ctx.fireChannelRead(msg);
        gate.received(ctx);
    }

    @Override
    public final void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
        gate.sends(ctx);
        ctx.write(msg, promise);
    }

    @Override
    public final void handlerRemoved(ChannelHandlerContext ctx) {
        gate.removed(ctx);
    }
}
