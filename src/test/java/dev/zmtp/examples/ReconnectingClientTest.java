package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.examples.ReconnectingClient.Delays;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.OwnHost;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.DefaultAddressResolverGroup;
import io.netty.resolver.InetNameResolver;
import io.netty.resolver.InetSocketAddressResolver;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When {@link ReconnectingClient} connects again, and where to. */
@Tag("netty-4.2-only")
@Timeout(60)
class ReconnectingClientTest {

    private static final String HOST = OwnHost.of(3);

    private static final Duration DAY = Duration.ofDays(1);

    private final EventLoops loops = new EventLoops(2);
    private final AtomicLong nanoTime = new AtomicLong();

    @AfterEach
    void stop() {
        loops.close();
    }

    private Delays delays(long min, long max, long calm) {
        return new Delays(Duration.ofNanos(min), Duration.ofNanos(max), Duration.ofNanos(calm), nanoTime::get);
    }

    private static void fail(Delays delays, int times) {
        for (int i = 0; i < times; i++) {
            delays.next();
        }
    }

    @Test
    void delaysGrow() {
        Delays delays = delays(100, 30_000, 1_000);

        assertThat(delays.next()).isBetween(50L, 100L);
        assertThat(delays.next()).isBetween(100L, 200L);
        assertThat(delays.next()).isBetween(200L, 400L);
    }

    @Test
    void delaysAreBounded() {
        Delays delays = delays(100, 30_000, 1_000);
        fail(delays, 1_000);
        assertThat(delays.next()).isBetween(15_000L, 30_000L);
    }

    @Test
    void longDelaysDoNotOverflow() {
        Delays delays = delays(Duration.ofHours(3).toNanos(), DAY.toNanos(), 1_000);
        fail(delays, 100);
        assertThat(delays.next()).isBetween(DAY.toNanos() / 2, DAY.toNanos());
    }

    @Test
    void aConnectionThatEndsAtOnceDoesNotShortenTheDelay() {
        Delays delays = delays(100, 30_000, 1_000);
        fail(delays, 3);
        delays.onConnected();
        nanoTime.addAndGet(999);
        assertThat(delays.next()).isBetween(400L, 800L);
    }

    @Test
    void aConnectionThatLivedStartsTheDelaysAgain() {
        Delays delays = delays(100, 30_000, 1_000);
        fail(delays, 3);
        delays.onConnected();
        nanoTime.addAndGet(1_000);
        assertThat(delays.next()).isBetween(50L, 100L);
    }

    @Test
    void theAttemptsAfterAConnectionThatLivedCountAnew() {
        Delays delays = delays(100, 30_000, 1_000);
        delays.onConnected();
        nanoTime.addAndGet(1_000);
        fail(delays, 3);
        nanoTime.addAndGet(1_000);
        assertThat(delays.next()).isBetween(400L, 800L);
    }

    @Test
    void aConnectionThatCarriedAMessageStartsTheDelaysAgain() {
        Delays delays = delays(100, 30_000, 1_000);
        fail(delays, 3);
        delays.onConnected();
        delays.onMessage();
        assertThat(delays.next()).isBetween(50L, 100L);
    }

    private ReconnectingClient client(
            AddressResolverGroup<?> names, String host, Channel server, Delays delays, Consumer<Channel> onConnected) {
        int port = ((InetSocketAddress) server.localAddress()).getPort();
        return new ReconnectingClient(loops.group(), names, host, port, delays, onConnected);
    }

    private ReconnectingClient client(Channel server, Delays delays, Consumer<Channel> onConnected) {
        return client(DefaultAddressResolverGroup.INSTANCE, HOST, server, delays, onConnected);
    }

    private Channel bind(int port) {
        InetSocketAddress address = new InetSocketAddress(HOST, port);
        return EchoRouter.bind(loops.group(), NioServerSocketChannel.class, address)
                .syncUninterruptibly()
                .channel();
    }

    private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T taken = queue.poll(10, TimeUnit.SECONDS);
        assertThat(taken).as("arrived within 10 s").isNotNull();
        return taken;
    }

    @Test
    void aClientReconnectsUntilItIsStopped() throws InterruptedException {
        BlockingQueue<Channel> connected = new LinkedBlockingQueue<>();
        Channel router = bind(0);
        int port = ((InetSocketAddress) router.localAddress()).getPort();
        OwnHost.close(router); // nobody listens at first
        ReconnectingClient client = client(router, delays(1_000_000, 20_000_000, 1), connected::add);
        client.start();

        bind(port);
        next(connected).close().sync(); // which the client did not ask for
        Channel last = next(connected);
        client.stop().sync();

        assertThat(last.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(connected.poll(100, TimeUnit.MILLISECONDS)).isNull();
    }

    /** A ROUTER that ends each connection after its handshake, having sent {@code message} if that is not empty. */
    private Channel ending(String message) {
        return new ServerBootstrap()
                .group(loops.group())
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(ROUTER), new ChannelInboundHandlerAdapter() {
                            @Override
                            public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                                if (!(event instanceof ZMTPHandshakeSuccess)) {
                                    return;
                                }
                                if (message.isEmpty()) {
                                    ctx.close();
                                } else {
                                    ctx.writeAndFlush(ZMTPMessage.fromUTF8(message))
                                            .addListener(ChannelFutureListener.CLOSE);
                                }
                            }
                        });
                    }
                })
                .bind(new InetSocketAddress(HOST, 0))
                .syncUninterruptibly()
                .channel();
    }

    /** What the client waits after its fourth connection, with delays from 1,000 ns. */
    private long delayAfterFourConnections(Channel server) throws InterruptedException {
        BlockingQueue<Channel> connected = new LinkedBlockingQueue<>();
        Delays delays = delays(1_000, DAY.toNanos(), 1); // the clock stands still: no connection lives that long
        ReconnectingClient client = client(server, delays, connected::add);
        client.start();
        for (int i = 0; i < 3; i++) {
            next(connected);
        }
        Channel last = next(connected);
        client.stop().sync();
        last.closeFuture().sync();
        return last.eventLoop().submit(delays::next).sync().getNow();
    }

    @Test
    void aServerThatEndsEachConnectionAfterItsHandshakeIsAskedEverMoreSeldom() throws InterruptedException {
        assertThat(delayAfterFourConnections(ending(""))).isGreaterThanOrEqualTo(4_000);
    }

    @Test
    void aServerThatSendsAMessageBeforeItEndsIsAskedAgainSoon() throws InterruptedException {
        assertThat(delayAfterFourConnections(ending("hello"))).isLessThanOrEqualTo(2_000);
    }

    /** Names that nobody knows at first. */
    private static final class Names extends AddressResolverGroup<InetSocketAddress> {
        private final BlockingQueue<String> asked = new LinkedBlockingQueue<>();

        @Override
        protected AddressResolver<InetSocketAddress> newResolver(EventExecutor executor) {
            return new InetSocketAddressResolver(executor, new InetNameResolver(executor) {
                @Override
                protected void doResolve(String name, Promise<InetAddress> promise) throws UnknownHostException {
                    asked.add(name);
                    if (asked.size() == 1) {
                        promise.setFailure(new UnknownHostException(name));
                    } else {
                        promise.setSuccess(InetAddress.getByName(HOST));
                    }
                }

                @Override
                protected void doResolveAll(String name, Promise<List<InetAddress>> promise) {
                    promise.setFailure(new UnsupportedOperationException());
                }
            });
        }
    }

    @Test
    void theNameIsLookedUpAtEachAttempt() throws InterruptedException {
        Names names = new Names();
        BlockingQueue<Channel> connected = new LinkedBlockingQueue<>();
        ReconnectingClient client = client(names, "service.example", bind(0), delays(1_000, 1_000, 1), connected::add);
        client.start();

        next(connected).close().sync();
        next(connected);
        client.stop().sync();

        assertThat(names.asked).containsExactly("service.example", "service.example", "service.example");
    }
}
