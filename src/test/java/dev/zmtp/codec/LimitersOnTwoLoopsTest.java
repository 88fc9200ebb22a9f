package dev.zmtp.codec;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.internal.admission.ConnectionRegistry;
import dev.zmtp.testing.Blocking;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.DefaultEventLoopGroup;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A newcomer on one event loop has a connection dropped that is on another one. */
@SuppressWarnings("deprecation") // the groups that Netty 4.1 knows too
class LimitersOnTwoLoopsTest {

    private static final long PATIENCE_SECONDS = 30;

    private final DefaultEventLoopGroup clients = new DefaultEventLoopGroup(1);
    private final DefaultEventLoopGroup servers = new DefaultEventLoopGroup(2); // taken in turn
    private final BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
    private final BlockingQueue<Boolean> refusedOnItsLoop = new LinkedBlockingQueue<>();

    /** Whoever asks next finds that the peers have kept this side waiting for too long. */
    private final AtomicLong clock = new AtomicLong();

    private final ZMTPConnectionLimiter limiter =
            new ZMTPConnectionLimiter(1, 1, 1, () -> clock.addAndGet(ConnectionRegistry.PATIENCE)) {
                @Override
                protected void connectionRefused(Channel channel, String reason) {
                    refusedOnItsLoop.add(channel.eventLoop().inEventLoop());
                }
            };

    private final List<Channel> connected = new ArrayList<>();

    private LocalAddress address;

    /** A handler that adds the codec in the first read takes its place. */
    private volatile boolean detects;

    private static final class Detector extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.pipeline().addLast(ZMTPCodec.of(ROUTER));
            ctx.fireChannelRead(msg);
            ctx.pipeline().remove(this);
        }
    }

    @BeforeEach
    void listen() throws InterruptedException {
        Channel server = new ServerBootstrap()
                .group(clients, servers)
                .channel(LocalServerChannel.class)
                .childHandler(new ChannelInitializer<LocalChannel>() {
                    @Override
                    protected void initChannel(LocalChannel channel) {
                        channel.pipeline().addLast(limiter, detects ? new Detector() : ZMTPCodec.of(ROUTER));
                        accepted.add(channel);
                    }
                })
                .bind(new LocalAddress(LimitersOnTwoLoopsTest.class))
                .await()
                .channel();
        address = (LocalAddress) server.localAddress();
    }

    @AfterEach
    void stop() {
        connected.forEach(channel -> channel.close().awaitUninterruptibly());
        servers.forEach(loop -> loop.submit(() -> {}).awaitUninterruptibly()); // their ends are closed, too
        servers.shutdownGracefully(0, 0, TimeUnit.SECONDS).awaitUninterruptibly();
        clients.shutdownGracefully(0, 0, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    private Channel connect() throws InterruptedException {
        Channel channel = new Bootstrap()
                .group(clients)
                .channel(LocalChannel.class)
                .handler(new ChannelInboundHandlerAdapter())
                .connect(address)
                .await()
                .channel();
        assertThat(channel.isActive()).isTrue();
        connected.add(channel);
        return channel;
    }

    private Channel nextAccepted() throws InterruptedException {
        Channel channel = accepted.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertThat(channel).isNotNull();
        return channel;
    }

    @Test
    void itIsRefusedOnItsOwnLoop() throws InterruptedException {
        connect();
        Channel first = nextAccepted();
        connect();
        assertThat(nextAccepted().eventLoop()).isNotSameAs(first.eventLoop());

        assertThat(refusedOnItsLoop.poll(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(first.closeFuture().await(PATIENCE_SECONDS, TimeUnit.SECONDS))
                .isTrue();
    }

    /** Has a newcomer take the place of {@code first}, whose loop does something else before it hears of that. */
    private void refuse(Channel first, Callable<?> before) throws Exception {
        first.eventLoop().submit(() -> {}).await(); // it reads: what arrives now comes after what is submitted
        CountDownLatch busy = new CountDownLatch(1);
        first.eventLoop().submit(() -> {
            Blocking.allow(busy::await);
            return null;
        });
        try {
            before.call();
            connect();
            Channel second = nextAccepted();
            second.eventLoop().submit(() -> {}).await(); // the limiter has seen it
        } finally {
            busy.countDown();
        }
        first.eventLoop().submit(() -> {}).await();
    }

    private static Object greet(Channel client) throws InterruptedException {
        return client.writeAndFlush(
                        Unpooled.wrappedBuffer(Hex.bytes(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, DEALER))))
                .await();
    }

    @Test
    void itStaysIfItsHandshakeEndsBeforeItsLoopHearsOfIt() throws Exception {
        Channel client = connect();
        Channel first = nextAccepted();
        refuse(first, () -> greet(client));
        assertThat(first.isActive()).isTrue();
        assertThat(refusedOnItsLoop).isEmpty();
    }

    @Test
    void itStaysIfTheReadThatAddsItsCodecEndsItsHandshakeBeforeItsLoopHearsOfIt() throws Exception {
        detects = true;
        Channel client = connect();
        Channel first = nextAccepted();
        refuse(first, () -> greet(client));
        assertThat(first.isActive()).isTrue();
        assertThat(refusedOnItsLoop).isEmpty();
        assertThat(limiter.connectionCount()).isEqualTo(2);
    }

    /** The handler that removes the limiter has found another protocol: the connection goes on, and counts. */
    @Test
    void itCountsAgainIfItsLimiterIsRemovedBeforeItsLoopHearsOfIt() throws Exception {
        connect();
        Channel first = nextAccepted();
        refuse(first, () -> first.eventLoop().submit(() -> first.pipeline().remove(limiter)));
        assertThat(first.isActive()).isTrue();
        assertThat(limiter.connectionCount()).isEqualTo(2);
        first.close().await();
        assertThat(limiter.connectionCount()).isOne();
    }
}
