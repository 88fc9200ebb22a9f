package dev.zmtp.soak;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;

/** Listens on a port of the loopback interface and relays each connection to a server, with faults. */
final class Proxy {

    private final InetSocketAddress server;
    private final IntFunction<List<ProxyFault>> faults;
    private final Consumer<ProxyFault> fired;
    private final IntConsumer ports;
    private final long seed;
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger mute = new AtomicInteger();
    private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
    private final Channel listener;

    /**
     * Starts to listen.
     *
     * @param faults what to do to the connection of a number, from 0
     * @param fired gets each fault just before it is done
     * @param ports gets each local port from which a connection to the server is about to be made
     */
    Proxy(
            EventLoopGroup loops,
            InetSocketAddress server,
            IntFunction<List<ProxyFault>> faults,
            Consumer<ProxyFault> fired,
            IntConsumer ports,
            long seed) {
        this.server = server;
        this.faults = faults;
        this.fired = fired;
        this.ports = ports;
        this.seed = seed;
        listener = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel peer) {
                        channels.add(peer);
                        join(peer);
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .syncUninterruptibly()
                .channel();
    }

    int port() {
        return ((InetSocketAddress) listener.localAddress()).getPort();
    }

    /** How many connections were accepted. */
    int connections() {
        return connections.get();
    }

    /** How many connections have ended on which the peer had sent nothing. */
    int mute() {
        return mute.get();
    }

    private void join(Channel peer) {
        int number = connections.getAndIncrement();
        List<ProxyFault> all = faults.apply(number);
        Random random = new Random(seed + number);
        Relay up = new Relay(all.stream().filter(ProxyFault::up).toList(), fired, random);
        Relay down = new Relay(all.stream().filter(fault -> !fault.up()).toList(), fired, random);
        ChannelFuture registered = new Bootstrap()
                .group(peer.eventLoop())
                .channel(NioSocketChannel.class)
                .option(ChannelOption.AUTO_READ, false)
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(down)
                .register();
        Channel upstream = registered.channel();
        channels.add(upstream);
        up.between(peer, upstream, down);
        down.between(upstream, peer, up);
        peer.pipeline().addLast(up);
        peer.closeFuture().addListener(closed -> {
            if (up.relayed() == 0) {
                mute.incrementAndGet();
            }
        });
        registered.addListener((ChannelFuture done) -> {
            // First a port, so that the accepting side knows whose connection it is.
            upstream.bind(new InetSocketAddress(0)).addListener((ChannelFuture bound) -> {
                if (bound.isSuccess()) {
                    ports.accept(((InetSocketAddress) upstream.localAddress()).getPort());
                    upstream.connect(server).addListener((ChannelFuture connected) -> begin(connected, peer));
                } else {
                    begin(bound, peer);
                }
            });
        });
    }

    private static void begin(ChannelFuture upstream, Channel peer) {
        if (upstream.isSuccess()) {
            peer.read();
            upstream.channel().read();
        } else {
            peer.close();
            upstream.channel().close();
        }
    }

    /** Waits for connections to end by themselves. */
    void awaitEnd(long seconds) throws InterruptedException {
        channels.newCloseFuture().await(seconds, TimeUnit.SECONDS);
    }

    /** Closes all connections and the port. */
    void close() {
        listener.close().syncUninterruptibly();
        channels.close().syncUninterruptibly();
    }
}
