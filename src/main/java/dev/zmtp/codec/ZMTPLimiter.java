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
 * A handler that counts the connections of a server and drops some when there are too many: a {@link
 * ZMTPHandshakeLimiter} or a {@link ZMTPConnectionLimiter}. This is what both have in common.
 *
 * <p>Add it first, before the {@link ZMTPCodec} and before an {@code SslHandler}. It leaves the pipeline when the
 * handshake of the codec is over. A handler that detects another protocol removes it.
 *
 * <p><b>Which connection is dropped.</b> A connection whose handshake is complete is never dropped for another. If a
 * new one is one too many for its address, the handshake of that address whose peer has kept this side waiting longest
 * makes room, if that is for more than two seconds. If there is none, the new connection is refused. The wait is
 * counted from the last answer of this side. So idle strangers keep others of their address out for two seconds, and
 * any number of honest peers that come at the same time get through one after the other: a peer that connects again
 * when it is refused gets in as soon as another one has completed its handshake.
 *
 * <p>If a new connection is one too many in total, the same is searched for at the addresses that have most handshakes.
 * If there is none, an address that has fewer takes the place of one that has more. So no address keeps others out. A
 * handshake that waits for this side, because a mechanism computes or an authenticator decides, is passed over.
 *
 * <p><b>How a connection is dropped.</b> {@link #refused} is called. The channel is closed with {@code SO_LINGER} 0
 * where the transport has this option, so that the peer gets a reset and no socket is left in {@code TIME_WAIT}. If it
 * was in its handshake, handlers get a {@link ZMTPHandshakeFailure} with the code {@code CLOSED}.
 *
 * <p><b>Addresses.</b> IPv6 addresses are counted per /64, because one host usually controls a whole /64. A channel
 * without an internet address, such as one of a Unix domain socket, counts in total only. A connection counts for
 * {@link ZMTPCodec#PEER_ADDRESS} as soon as a handler has set it. Until then it counts for the address that it comes
 * from, which is the proxy's after a proxy: override {@link #peerAddress} there, so that it counts in total only.
 *
 * <p><b>Peers that return.</b> If a connection is ended for the {@link ZMTPMemoryBudget}, its peer is likely to return
 * at once and to send the same again. For a second, or for up to eight if that happens again and again, nothing of
 * newly accepted connections with its address (IPv6: with its /64) is read, but for no longer than half of the {@link
 * ZMTPConfig#handshakeTimeout()}. Other addresses do not wait. It is decided once for a connection, when its address is
 * known: after a proxy whose header does not set {@code PEER_ADDRESS}, all that come through the proxy wait.
 *
 * <p>Sharable and thread safe: use one for all channels that are counted together.
 */
@Sharable
public abstract sealed class ZMTPLimiter extends ChannelDuplexHandler
        permits ZMTPConnectionLimiter, ZMTPHandshakeLimiter {

    private final RateLimitedLog log;
    private final ConnectionGate gate;

    /**
     * Drops what {@code registry} says.
     *
     * @param logger its name is known to operators, so it is not that of a subclass
     * @param maxPerUser the limit for a user if connections count for life; 0 if they count during the handshake
     */
    @SuppressWarnings("this-escape") // nothing is called before a channel comes
    ZMTPLimiter(InternalLogger logger, ConnectionRegistry registry, int maxPerUser) {
        log = new RateLimitedLog(logger, InternalLogLevel.INFO, System::nanoTime);
        gate = new ConnectionGate(
                registry, maxPerUser, ZMTPCodec::sessionIn, channel -> peerAddress(channel), this::refused);
    }

    /** The number of connections that count now. */
    final int count() {
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
        return PeerAddress.of(channel);
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
