package dev.zmtp.soak;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.shm.SharedMemoryAddress;
import dev.zmtp.shm.SharedMemoryServerChannel;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;

/**
 * Listens for each pattern on a port of its own, with the codec and a {@link CodecEnd} in each pipeline; and through
 * shared memory for one link each.
 */
final class Server implements AutoCloseable {

    private static final Duration HEARTBEAT_INTERVAL = Duration.ofSeconds(1);
    private static final long MAX_MESSAGE = 64 << 20;

    /** Finds the link of a connection. */
    interface Links {
        /** The link of a connection that comes from {@code address}, for a server of {@code pattern}. */
        Link of(InetSocketAddress address, Pattern pattern);
    }

    private final Map<Pattern, Channel> listeners = new EnumMap<>(Pattern.class);
    private final ChannelGroup accepted = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final EventLoopGroup loops;
    private final ByteBufAllocator alloc;
    private final Duration patience;
    private final ZMTPMemoryBudget budget;
    private final Totals totals;
    private final Random shapes;

    /**
     * Listens on {@code host}, on {@code port} and the next ones, or on free ports if it is 0. A handshake, and silence
     * after a PING, may last as long as {@code patience}. All connections share {@code budget}.
     */
    Server(
            EventLoopGroup loops,
            ByteBufAllocator alloc,
            String host,
            int port,
            Duration patience,
            ZMTPMemoryBudget budget,
            Links links,
            Totals totals,
            long seed) {
        this.loops = loops;
        this.alloc = alloc;
        this.patience = patience;
        this.budget = budget;
        this.totals = totals;
        this.shapes = new Random(seed);
        for (Pattern pattern : Pattern.values()) {
            Channel listener = bootstrap(
                            pattern, channel -> links.of((InetSocketAddress) channel.remoteAddress(), pattern))
                    .channel(NioServerSocketChannel.class)
                    .option(ChannelOption.SO_REUSEADDR, true)
                    .bind(host, port == 0 ? 0 : port + pattern.port())
                    .syncUninterruptibly()
                    .channel();
            listeners.put(pattern, listener);
        }
    }

    /** Listens for {@code link} alone, which comes through shared memory. The channel is the caller's. */
    Channel listen(SharedMemoryAddress address, Link link) {
        return bootstrap(link.plan().pattern(), channel -> link)
                .channel(SharedMemoryServerChannel.class)
                .bind(address)
                .syncUninterruptibly()
                .channel();
    }

    private ServerBootstrap bootstrap(Pattern pattern, Function<Channel, Link> links) {
        ZMTPConfig config = config(pattern, patience, budget);
        return new ServerBootstrap()
                .group(loops)
                .childOption(ChannelOption.ALLOCATOR, alloc)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        accepted.add(channel);
                        Link link = links.apply(channel);
                        EndFault fault =
                                link.nextServerConnection() == 0 ? link.plan().server() : EndFault.NONE;
                        Random shape = new Random(shapes.nextLong());
                        channel.pipeline()
                                .addLast(ZMTPCodec.from(config), new CodecEnd(link, true, fault, totals, shape));
                    }
                });
    }

    private static ZMTPConfig config(Pattern pattern, Duration patience, ZMTPMemoryBudget budget) {
        ZMTPConfig.Builder config = ZMTPConfig.builder()
                .socketType(pattern.server())
                .memoryBudget(budget)
                // By default half of the budget: here the budget is what bites.
                .maxMessageLength(Math.min(MAX_MESSAGE, budget.limit()))
                .handshakeTimeout(patience);
        // A PING to a peer that has shut its output down would be answered by a RST, which may overtake what it sent.
        return pattern == Pattern.PUSH_PULL
                ? config.build()
                : config.heartbeatInterval(HEARTBEAT_INTERVAL)
                        .heartbeatTimeout(patience)
                        .build();
    }

    /** The port for peers of {@code pattern}. */
    int port(Pattern pattern) {
        return ((InetSocketAddress) listeners.get(pattern).localAddress()).getPort();
    }

    /** The number of connections that are open. */
    int open() {
        return accepted.size();
    }

    /** Listens no more. */
    @Override
    public void close() {
        listeners.values().forEach(listener -> listener.close().syncUninterruptibly());
    }
}
