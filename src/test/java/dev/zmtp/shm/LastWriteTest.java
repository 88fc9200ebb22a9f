package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.Loopback;
import dev.zmtp.testing.TestTransport;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.uring.IoUringDomainSocketChannel;
import io.netty.channel.uring.IoUringServerDomainSocketChannel;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With io_uring, the answer to an invitation is not sent yet when the client writes and closes. */
@Tag("netty-4.2-only")
@Tag("linux")
class LastWriteTest {

    private static final int CLIENTS = 20;

    @TempDir
    private Path directory;

    @Test
    void whatAClientWritesArrivesThoughItClosesAtOnce() throws Exception {
        if (!TestTransport.IO_URING.isRequired() && TestTransport.IO_URING.refusal() != null) {
            return;
        }
        EventLoopGroup group = TestTransport.IO_URING.kit(2).group();
        try {
            CountDownLatch arrived = new CountDownLatch(CLIENTS);
            SharedMemoryAddress address =
                    new SharedMemoryAddress(directory.resolve("last").toString());
            new ServerBootstrap()
                    .group(group)
                    .channelFactory(() -> new SharedMemoryServerChannel(
                            IoUringServerDomainSocketChannel::new, DomainSocketAddress::new))
                    .childHandler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel ch) {
                            ch.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                                @Override
                                public void channelRead(ChannelHandlerContext ctx, Object message) {
                                    ((ByteBuf) message).release();
                                    arrived.countDown();
                                }
                            });
                        }
                    })
                    .bind(address)
                    .sync();

            for (int i = 0; i < CLIENTS; i++) {
                Channel client = new Bootstrap()
                        .group(group)
                        .channelFactory(() ->
                                new SharedMemoryChannel(IoUringDomainSocketChannel::new, DomainSocketAddress::new))
                        .handler(new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelActive(ChannelHandlerContext ctx) {
                                ctx.writeAndFlush(Unpooled.copyInt(1)).addListener(written -> ctx.close());
                            }
                        })
                        .connect(address)
                        .channel();
                assertThat(client.closeFuture().await(Loopback.PATIENCE_SECONDS, TimeUnit.SECONDS))
                        .isTrue();
            }

            assertThat(arrived.await(Loopback.PATIENCE_SECONDS, TimeUnit.SECONDS))
                    .isTrue();
        } finally {
            group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        }
    }
}
