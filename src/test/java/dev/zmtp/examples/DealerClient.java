package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.codec.ZMTPSession;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/** A DEALER with an identity that sends messages and takes the answers: a peer for {@link EchoRouter}. */
public final class DealerClient {

    private DealerClient() {}

    /** Sends each argument as a message of two frames to port 5555, and ends when all were answered. */
    public static void main(String... args) throws InterruptedException {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            CountDownLatch unanswered = new CountDownLatch(args.length);
            ZMTPSession session = newSession();
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 5555);
            Channel channel = connect(group, address, session, reply -> {
                        System.out.println(reply);
                        unanswered.countDown();
                    })
                    .sync()
                    .channel();
            channel.closeFuture().addListener(closed -> {
                while (unanswered.getCount() > 0) {
                    unanswered.countDown(); // nothing more will come
                }
            });
            for (String text : args) {
                send(channel, text);
            }
            channel.flush();
            // Throws what went wrong, such as a peer of a type that does not talk to a DEALER.
            ZMTPHandshake handshake = session.handshakeFuture().sync().getNow();
            System.out.println("connected to a " + handshake.remoteSocketType());
            unanswered.await();
        } finally {
            group.shutdownGracefully().sync();
        }
    }

    /** The session of one connection. It outlives the channel, and so tells also why there is none. */
    static ZMTPSession newSession() {
        return ZMTPSession.from(ZMTPConfig.builder()
                .socketType(DEALER)
                .localIdentity("client-1")
                .build());
    }

    /** Connects; {@code onReply} gets each reply on the event loop, and may use it for the time of the call. */
    static ChannelFuture connect(
            EventLoopGroup group, SocketAddress address, ZMTPSession session, Consumer<ZMTPMessage> onReply) {
        return new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel ch) {
                        ch.pipeline().addLast(ZMTPCodec.from(session), new Replies(onReply));
                    }
                })
                .connect(address);
    }

    /** Writes a message, also before the handshake: the codec holds it until then. */
    static ChannelFuture send(Channel channel, String text) {
        return channel.write(ZMTPMessage.fromUTF8(channel.alloc(), "request", text));
    }

    /** A {@code SimpleChannelInboundHandler} releases each message behind the call. */
    private static final class Replies extends SimpleChannelInboundHandler<ZMTPMessage> {
        private final Consumer<ZMTPMessage> onReply;

        Replies(Consumer<ZMTPMessage> onReply) {
            this.onReply = onReply;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage reply) {
            onReply.accept(reply);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.out.println("connection failed: " + cause.getMessage());
            ctx.close();
        }
    }
}
