package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.function.Consumer;

/** A DEALER that sends requests as fast as the connection takes them, and reads the answers. */
public final class DealerClient {

    private DealerClient() {}

    /** Sends ten requests to port 5555 and prints the answers. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("DEALER to 127.0.0.1:5555, asks ten times."
                + " Start first: mvn -q test-compile exec:java@example -Dexample=EchoRouter");
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 5555);
            ChannelFuture connected =
                    connect(group, address, 10, System.out::println).await();
            if (connected.isSuccess()) {
                connected.channel().closeFuture().sync();
            } else {
                System.err.println(connected.cause().getMessage()); // such as that nobody listens
            }
        } finally {
            group.shutdownGracefully();
        }
    }

    /** Connects. {@code onAnswer} gets each answer on the event loop, and may use it until it returns. */
    static ChannelFuture connect(
            EventLoopGroup group, SocketAddress address, int requests, Consumer<ZMTPMessage> onAnswer) {
        return new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(DEALER), new Requests(requests, onAnswer));
                    }
                })
                .connect(address);
    }

    /** A {@code SimpleChannelInboundHandler} releases each message after the call. */
    static final class Requests extends SimpleChannelInboundHandler<ZMTPMessage> {
        private final int requests;
        private final Consumer<ZMTPMessage> onAnswer;
        private int sent;
        private int answered;

        Requests(int requests, Consumer<ZMTPMessage> onAnswer) {
            this.requests = requests;
            this.onAnswer = onAnswer;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeSuccess) {
                send(ctx);
            } else if (event instanceof ZMTPHandshakeFailure failure) {
                System.err.println(failure);
            }
        }

        private void send(ChannelHandlerContext ctx) {
            while (sent < requests && ctx.channel().isWritable()) {
                sent++;
                ctx.write(ZMTPMessage.fromUTF8(ctx.alloc(), "request", "number " + sent));
            }
            ctx.flush();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            ctx.executor().execute(() -> send(ctx)); // as a task: this call may come from inside send
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage answer) {
            onAnswer.accept(answer);
            answered++;
            if (answered == requests) {
                ctx.close();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("failed: " + cause);
            ctx.close();
        }
    }
}
