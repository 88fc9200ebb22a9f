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
import java.util.List;
import java.util.function.Consumer;

/** The echo ROUTER and its DEALER, with memory that both processes have mapped between them. */
public final class SharedMemory {

    private static final String EXAMPLE = "mvn -q test-compile exec:java@example -Dexample=SharedMemory -Dexec.args=";

    private SharedMemory() {}

    /** With "serve" and a path: serves until it is killed. With "ask" and a path: sends ten requests. */
    public static void main(String... args) throws InterruptedException {
        if (args.length != 2 || !List.of("serve", "ask").contains(args[0])) {
            System.err.println("usage: " + EXAMPLE + "\"serve PATH\", or \"ask PATH\"");
            return;
        }
        SharedMemoryAddress address = new SharedMemoryAddress(args[1]);
        boolean serves = args[0].equals("serve");
        System.out.println(
                serves
                        ? "ROUTER on shared memory, " + args[1] + ", echoes. Try: " + EXAMPLE + "\"ask " + args[1]
                                + "\""
                        : "DEALER to shared memory, " + args[1] + ", asks ten times. Start first: " + EXAMPLE
                                + "\"serve " + args[1] + "\"");
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            ChannelFuture opened = serves ? bind(group, address) : connect(group, address, System.out::println);
            if (opened.await().isSuccess()) {
                opened.channel().closeFuture().sync();
            } else {
                System.err.println(opened.cause().getMessage()); // such as that nobody listens
            }
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
