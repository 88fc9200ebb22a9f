package dev.zmtp.codec;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.NetUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Bounds how many connections of a server may be in their handshake at one time, in total and from one address. Whoever opens
 * connections and leaves them there cannot take more than that from those who go on.
 *
 * <pre>{@code
 *   ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter(); // one for all channels of the server
 *   ...
 *   ch.pipeline().addLast(limiter, ZMTPCodec.from(config), new MyHandler());
 * }</pre>
 *
 * <p>It stands first, in front of the {@link ZMTPCodec} and of an {@code SslHandler}, whose handshake is counted too. A
 * connection counts from the moment that the limiter is added to its pipeline until the handshake of its codec is over or the
 * channel is closed; then the limiter leaves the pipeline. One too many is closed before it is active, so that no octet is
 * sent to it, and {@link #refused} is told. Whoever finds that a connection speaks another protocol removes the limiter.
 *
 * <p>All addresses of an IPv6 network of 64 bits count as one, since who has one of them has them all. A channel without
 * an internet address, such as one of a Unix domain socket, counts in total only. Behind a proxy that sends the
 * {@code PROXY} header, all have the proxy's address: set {@code maxPerAddress} to {@code maxTotal} there.
 *
 * <p>Sharable and thread safe: one for all channels that are to be counted together.
 */
@Sharable
public class ZMTPHandshakeLimiter extends ChannelInboundHandlerAdapter {

    /** The most handshakes at one time, unless said otherwise. */
    public static final int DEFAULT_MAX_TOTAL = 1024;

    /** The most handshakes at one time with one address, unless said otherwise. */
    public static final int DEFAULT_MAX_PER_ADDRESS = 64;

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(ZMTPHandshakeLimiter.class);

    private static final int IPV6_OCTETS = 16;
    private static final int IPV6_NETWORK_OCTETS = 8;

    private final int maxTotal;
    private final int maxPerAddress;

    /** Who is counted. Guarded by this. */
    private final Map<Channel, Handshake> counted = new HashMap<>();

    /** How many are counted of each address. Guarded by this. */
    private final Map<String, Integer> perAddress = new HashMap<>();

    /** A connection that is counted, with the address that it had when it began: a closed channel may not know. */
    private static final class Handshake {
        private final String address;
        private boolean awaited;

        private Handshake(String address) {
            this.address = address;
        }
    }

    /** A limiter with the default bounds. */
    public ZMTPHandshakeLimiter() {
        this(DEFAULT_MAX_TOTAL, DEFAULT_MAX_PER_ADDRESS);
    }

    /**
     * A limiter with these bounds, each at least 1.
     *
     * @throws IllegalArgumentException if one is less
     */
    public ZMTPHandshakeLimiter(int maxTotal, int maxPerAddress) {
        this.maxTotal = atLeastOne("maxTotal", maxTotal);
        this.maxPerAddress = atLeastOne("maxPerAddress", maxPerAddress);
    }

    private static int atLeastOne(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: >= 1)");
        }
        return value;
    }

    /** How many connections are in their handshake now. */
    public final synchronized int handshakes() {
        return counted.size();
    }

    /**
     * Tells of a connection that is refused, on its event loop, just before it is closed. Logs it at level info, which a
     * subclass may replace. Add the limiter without an executor of its own: there it would come too late.
     *
     * @param reason which bound it would exceed, with the address if it is that of one
     */
    protected void refused(Channel channel, String reason) {
        logger.info("{} refused: {}", channel, reason);
    }

    @Override
    public final void handlerAdded(ChannelHandlerContext ctx) {
        if (!ctx.channel().isOpen()) {
            return; // and its pipeline may be gone, so that nobody would tell of the removal
        }
        String reason = count(ctx.channel());
        if (reason != null) {
            try {
                refused(ctx.channel(), reason);
            } finally {
                ctx.channel().close();
            }
        }
    }

    /** Counts this channel, or says why not. */
    private synchronized @Nullable String count(Channel channel) {
        if (counted.containsKey(channel)) {
            return null; // added twice
        }
        String address = address(channel.remoteAddress());
        int ofAddress = perAddress.getOrDefault(address, 0) + 1;
        if (counted.size() >= maxTotal) {
            return "handshakes: " + (counted.size() + 1) + " (expected: <= " + maxTotal + ")";
        }
        if (!address.isEmpty() && ofAddress > maxPerAddress) {
            return "handshakes with " + address + ": " + ofAddress + " (expected: <= " + maxPerAddress + ")";
        }
        counted.put(channel, new Handshake(address));
        perAddress.put(address, ofAddress);
        return null;
    }

    /** What handshakes are counted by: an address, an IPv6 network, or nothing. */
    private static String address(@Nullable SocketAddress remote) {
        if (!(remote instanceof InetSocketAddress internet) || internet.isUnresolved()) {
            return "";
        }
        byte[] octets = internet.getAddress().getAddress();
        if (octets.length < IPV6_OCTETS) {
            return NetUtil.bytesToIpAddress(octets);
        }
        Arrays.fill(octets, IPV6_NETWORK_OCTETS, IPV6_OCTETS, (byte) 0);
        return NetUtil.bytesToIpAddress(octets) + "/64";
    }

    @Override
    public final void channelActive(ChannelHandlerContext ctx) {
        ctx.fireChannelActive();
        await(ctx);
    }

    @Override
    public final void channelRead(ChannelHandlerContext ctx, Object msg) {
        ctx.fireChannelRead(msg);
        await(ctx); // the codec may have been added only now, by a handler that chooses a protocol
    }

    private void await(ChannelHandlerContext ctx) {
        ZMTPCodec codec = ctx.pipeline().get(ZMTPCodec.class);
        if (codec != null && isFirst(ctx.channel())) {
            codec.session().handshakeFuture().addListener(over -> leave(ctx));
        }
    }

    private synchronized boolean isFirst(Channel channel) {
        Handshake handshake = counted.get(channel);
        if (handshake == null || handshake.awaited) {
            return false;
        }
        handshake.awaited = true;
        return true;
    }

    private void leave(ChannelHandlerContext ctx) {
        if (!ctx.executor().inEventLoop()) { // the codec may have been added with an executor of its own
            ctx.executor().execute(() -> leave(ctx));
        } else if (!ctx.isRemoved()) {
            ctx.pipeline().remove(ctx.name());
        }
    }

    @Override
    public final synchronized void handlerRemoved(ChannelHandlerContext ctx) {
        Handshake handshake = counted.remove(ctx.channel());
        if (handshake != null) {
            perAddress.computeIfPresent(handshake.address, (address, all) -> all == 1 ? null : all - 1);
        }
    }
}
