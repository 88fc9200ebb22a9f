package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.shm.SharedMemoryAddress;
import dev.zmtp.shm.SharedMemoryChannel;
import dev.zmtp.shm.SharedMemoryServerChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.util.function.Consumer;

/** The echo ROUTER and its DEALER, with memory that both processes have mapped between them. */
public final class SharedMemory {

    private SharedMemory() {}

    /** With "serve" and a path: serves until it is killed. With "ask" and a path: sends ten requests. */
    public static void main(String... args) throws InterruptedException {
        SharedMemoryAddress address = new SharedMemoryAddress(args[1]);
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            ChannelFuture opened =
                    args[0].equals("serve") ? bind(group, address) : connect(group, address, System.out::println);
            Channel channel = opened.sync().channel();
            System.out.println(args[0] + " on " + address);
            channel.closeFuture().sync();
        } finally {
            group.shutdownGracefully();
        }
    }

    static ChannelFuture bind(EventLoopGroup group, SharedMemoryAddress address) {
        return EchoRouter.bind(group, SharedMemoryServerChannel.class, address);
    }

    static ChannelFuture connect(EventLoopGroup group, SharedMemoryAddress address, Consumer<ZMTPMessage> onAnswer) {
        return new Bootstrap()
                .group(group)
                .channel(SharedMemoryChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(DEALER), new DealerClient.Requests(10, onAnswer));
                    }
                })
                .connect(address);
    }
}
