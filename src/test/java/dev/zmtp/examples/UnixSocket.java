package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.util.function.Consumer;

/** The echo ROUTER and its DEALER on a Unix domain socket, which libzmq calls {@code ipc://}. */
public final class UnixSocket {

    private UnixSocket() {}

    /** Sends ten requests over the socket at the path that is the argument. */
    public static void main(String... args) throws InterruptedException {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            SocketAddress address = UnixDomainSocketAddress.of(args[0]);
            bind(group, address).sync();
            Channel client = connect(group, address, System.out::println).sync().channel();
            client.closeFuture().sync();
        } finally {
            group.shutdownGracefully();
        }
    }

    static ChannelFuture bind(EventLoopGroup group, SocketAddress address) {
        return EchoRouter.bind(group, NioServerDomainSocketChannel.class, address);
    }

    static ChannelFuture connect(EventLoopGroup group, SocketAddress address, Consumer<ZMTPMessage> onAnswer) {
        return new Bootstrap()
                .group(group)
                .channel(NioDomainSocketChannel.class)
                .handler(
                        new ChannelInitializer<Channel>() { // not of SocketChannel, which is TCP
                            @Override
                            protected void initChannel(Channel ch) {
                                ch.pipeline().addLast(ZMTPCodec.of(DEALER), new DealerClient.Requests(10, onAnswer));
                            }
                        })
                .connect(address);
    }
}
