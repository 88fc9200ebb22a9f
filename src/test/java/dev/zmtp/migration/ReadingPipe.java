package dev.zmtp.migration;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;

/** An old-style program: a PUSH and a PULL that know no messages, only {@link Reading}s. */
final class ReadingPipe {

    /** What came out of the PULL. */
    final BlockingQueue<Reading> received = new LinkedBlockingQueue<>();

    private final Channel push;

    ReadingPipe(EventLoopGroup group) throws Exception {
        Channel pull = new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline()
                                .addLast(
                                        ZMTPCodec.builder()
                                                .socketType(ZMTPSocketType.PULL)
                                                .decoder(ReadingDecoder.class)
                                                .build(),
                                        new SimpleChannelInboundHandler<Reading>() {
                                            @Override
                                            protected void channelRead0(ChannelHandlerContext ctx, Reading reading) {
                                                received.add(reading);
                                            }
                                        });
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .sync()
                .channel();
        final CountDownLatch ready = new CountDownLatch(1);
        push = new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline()
                                .addLast(
                                        ZMTPCodec.builder()
                                                .socketType(ZMTPSocketType.PUSH)
                                                .encoder(ReadingEncoder.class)
                                                .build(),
                                        new ChannelInboundHandlerAdapter() {
                                            @Override
                                            public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                                                if (evt instanceof ZMTPHandshakeSuccess) {
                                                    ready.countDown();
                                                }
                                            }
                                        });
                    }
                })
                .connect(pull.localAddress())
                .sync()
                .channel();
        ready.await();
    }

    void send(Reading reading) {
        push.writeAndFlush(reading).syncUninterruptibly();
    }

    void close() {
        push.close().syncUninterruptibly();
    }
}
