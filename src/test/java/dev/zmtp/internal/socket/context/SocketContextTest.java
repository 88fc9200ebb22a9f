package dev.zmtp.internal.socket.context;

import static dev.zmtp.testing.TestSockets.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.EventLoops;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** When the rest of a long task runs. */
class SocketContextTest {

    private final AtomicBoolean hasRead = new AtomicBoolean();
    private final CompletableFuture<Channel> accepted = new CompletableFuture<>();
    private final CompletableFuture<Boolean> hadRead = new CompletableFuture<>();

    private static SocketContext context(EventLoop loop) {
        return ClockedSockets.context(ZMTPSocketConfig.of(ZMTPSocketType.PUB), loop, () -> 1);
    }

    private final class Reader extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            accepted.complete(ctx.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object bytes) {
            ReferenceCountUtil.release(bytes);
            hasRead.set(true);
        }
    }

    @Test
    void theEventLoopReadsBeforeTheRestOfALongTask() {
        try (EventLoops loops = new EventLoops(1)) {
            Channel server = new ServerBootstrap()
                    .group(loops.group())
                    .channel(NioServerSocketChannel.class)
                    .childHandler(new Reader())
                    .bind(InetAddress.getLoopbackAddress(), 0)
                    .syncUninterruptibly()
                    .channel();
            Channel client = new Bootstrap()
                    .group(loops.group())
                    .channel(NioSocketChannel.class)
                    .handler(new ChannelInboundHandlerAdapter())
                    .connect(server.localAddress())
                    .syncUninterruptibly()
                    .channel();
            EventLoop loop = get(accepted).eventLoop();

            loop.execute(() -> {
                client.writeAndFlush(Unpooled.wrappedBuffer(new byte[1]));
                context(loop).executeAfterReads(() -> hadRead.complete(hasRead.get()));
            });

            assertThat(get(hadRead)).isTrue();
        }
    }

    @Test
    void onAnotherEventLoopTheRestIsOneOfTheNextTasks() {
        EmbeddedChannel channel = new EmbeddedChannel();

        context(channel.eventLoop()).executeAfterReads(() -> hadRead.complete(hasRead.get()));
        assertThat(hadRead).isNotDone();

        channel.runPendingTasks();
        assertThat(hadRead).isDone();
    }

    @Test
    void theRestOfALongTaskRunsAlsoIfTheEventLoopEndsBeforeIt() {
        try (EventLoops loops = new EventLoops(1)) {
            EventLoop loop = loops.group().next();
            SocketContext context = context(loop);
            CompletableFuture<Void> over = new CompletableFuture<>();

            loop.execute(() -> {
                goOn(context, 10, over);
                loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
            });

            get(over);
        }
    }

    private static void goOn(SocketContext context, int parts, CompletableFuture<Void> over) {
        if (parts == 0) {
            over.complete(null);
        } else {
            context.executeAfterReads(() -> goOn(context, parts - 1, over));
        }
    }
}
