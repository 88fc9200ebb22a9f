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
 * Limits how many connections of a server may be in their handshake at one time, in total and per address. A host that
 * opens connections and leaves them idle cannot exhaust the server.
 *
 * <pre>{@code
 *   ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter(); // one for all channels of the server
 *   ...
 *   ch.pipeline().addLast(limiter, ZMTPCodec.from(config), new MyHandler());
 * }</pre>
 *
 * <p>Add it first, before the {@link ZMTPCodec} and before an {@code SslHandler}, whose handshake is counted too. A
 * connection counts from the moment that the limiter is added to its pipeline until the handshake of its codec is over
 * or the channel is closed; then the limiter leaves the pipeline. A connection above the limit is closed before it is
 * active, so that nothing is sent to it, and {@link #refused} is called. A handler that detects another protocol
 * removes the limiter.
 *
 * <p>IPv6 addresses are counted per /64, because one host usually controls a whole /64. A channel without an internet
 * address, such as one of a Unix domain socket, counts in total only. Connections through a proxy that sends the
 * {@code PROXY} header all have the proxy's address: set {@code maxPerAddress} to {@code maxTotal} there.
 *
 * <p>Sharable and thread safe: use one for all channels that are counted together.
 */
@Sharable
public class ZMTPHandshakeLimiter extends ChannelInboundHandlerAdapter {

    private static final int DEFAULT_MAX_TOTAL = 1024;

    private static final int DEFAULT_MAX_PER_ADDRESS = 64;

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(ZMTPHandshakeLimiter.class);

    private static final int IPV6_LENGTH = 16;
    private static final int IPV6_NETWORK_LENGTH = 8;

    private final int maxTotal;
    private final int maxPerAddress;

    /** The connections that are counted. Guarded by this. */
    private final Map<Channel, Handshake> counted = new HashMap<>();

    /** The number of connections for each address. Guarded by this. */
    private final Map<String, Integer> perAddress = new HashMap<>();

    /** A connection that is counted, with its address at the start: a closed channel may not know it. */
    private static final class Handshake {
        private final String address;
        private boolean hasListener;

        private Handshake(String address) {
            this.address = address;
        }
    }

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
        this.maxTotal = atLeastOne("maxTotal", maxTotal);
        this.maxPerAddress = atLeastOne("maxPerAddress", maxPerAddress);
    }

    private static int atLeastOne(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: >= 1)");
        }
        return value;
    }

    /** The number of connections that are in their handshake now. */
    public final synchronized int handshakes() {
        return counted.size();
    }

    /**
     * Called for a connection that is refused, on its event loop, just before it is closed. Logs it at level info; a
     * subclass may do something else. Add the limiter without an executor: on another thread it would come too late.
     *
     * @param reason the limit that it would exceed, with the address if it is the limit per address
     */
    protected void refused(Channel channel, String reason) {
        logger.info("{} refused: {}", channel, reason);
    }

    @Override
    public final void handlerAdded(ChannelHandlerContext ctx) {
        if (!ctx.channel().isOpen()) {
            return; // its pipeline may be gone, and then handlerRemoved would not be called
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

    /** Counts this channel, or returns the reason why not. */
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

    /** The key by which a handshake is counted: an address, an IPv6 network, or empty if there is none. */
    private static String address(@Nullable SocketAddress remote) {
        if (!(remote instanceof InetSocketAddress internet) || internet.isUnresolved()) {
            return "";
        }
        byte[] bytes = internet.getAddress().getAddress();
        if (bytes.length < IPV6_LENGTH) {
            return NetUtil.bytesToIpAddress(bytes);
        }
        Arrays.fill(bytes, IPV6_NETWORK_LENGTH, IPV6_LENGTH, (byte) 0);
        return NetUtil.bytesToIpAddress(bytes) + "/64";
    }

    @Override
    public final void channelActive(ChannelHandlerContext ctx) {
        ctx.fireChannelActive();
        removeAfterHandshake(ctx);
    }

    @Override
    public final void channelRead(ChannelHandlerContext ctx, Object msg) {
        ctx.fireChannelRead(msg);
        removeAfterHandshake(ctx); // the codec may have been added only now, by a handler that chooses a protocol
    }

    private void removeAfterHandshake(ChannelHandlerContext ctx) {
        ZMTPCodec codec = ctx.pipeline().get(ZMTPCodec.class);
        if (codec != null && isFirst(ctx.channel())) {
            codec.session().handshakeFuture().addListener(done -> removeFromPipeline(ctx));
        }
    }

    private synchronized boolean isFirst(Channel channel) {
        Handshake handshake = counted.get(channel);
        if (handshake == null || handshake.hasListener) {
            return false;
        }
        handshake.hasListener = true;
        return true;
    }

    private void removeFromPipeline(ChannelHandlerContext ctx) {
        if (!ctx.executor().inEventLoop()) { // the codec may have been added with an executor of its own
            ctx.executor().execute(() -> removeFromPipeline(ctx));
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
