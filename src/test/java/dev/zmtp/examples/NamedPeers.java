package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeLimiter;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** A ROUTER that passes messages on: the first frame names the receiver, and is replaced by the name of the sender. */
public final class NamedPeers {

    private final ZMTPConfig config;
    private final ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter();
    private final ConcurrentMap<ByteBuffer, Peer> peers = new ConcurrentHashMap<>();

    NamedPeers(ZMTPConfig config) {
        this.config = config;
    }

    /** A peer that is gone without a word keeps its name until its connection ends. So heartbeats are on. */
    static ZMTPConfig.Builder settings() {
        return ZMTPConfig.builder()
                .socketType(ROUTER)
                .maxFrameLength(1 << 20)
                .maxMessageLength(4 << 20)
                .heartbeatInterval(Duration.ofSeconds(5))
                .heartbeatTimeout(Duration.ofSeconds(10));
    }

    /** Serves on port 5555 until it is killed. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("ROUTER on 127.0.0.1:5555, passes messages on by name."
                + " Try, with pyzmq, a peer that writes to itself:\n"
                + "python3 -c \"import zmq; s = zmq.Context().socket(zmq.DEALER); s.identity = b'alice'; "
                + "s.connect('tcp://127.0.0.1:5555'); s.send_multipart([b'alice', b'hello']); "
                + "print(s.recv_multipart())\"");
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        try {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 5555);
            NamedPeers peers = new NamedPeers(settings().build());
            Channel server = peers.bind(group, address).sync().channel();
            server.closeFuture().sync();
        } finally {
            group.shutdownGracefully();
        }
    }

    ChannelFuture bind(EventLoopGroup group, SocketAddress address) {
        return new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.SO_KEEPALIVE, true) // for peers that do not know PING
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(limiter, ZMTPCodec.from(config), new Peer(ch));
                    }
                })
                .bind(address);
    }

    /** Sends {@code message} to the peer of that name. Drops it if there is no such peer, or if it does not keep up. */
    void send(ByteBuffer name, ZMTPMessage message) {
        Peer peer = peers.get(name);
        if (peer != null && peer.channel.isWritable()) {
            peer.channel.writeAndFlush(message);
        } else {
            message.release();
        }
    }

    private final class Peer extends SimpleChannelInboundHandler<ZMTPMessage> {
        private final Channel channel;
        private ByteBuffer name;
        private String userId;

        Peer(Channel channel) {
            this.channel = channel;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeSuccess success) {
                name = success.session().peerIdentity();
                userId = success.session().userId();
                if (takeName()) {
                    channel.closeFuture().addListener(closed -> peers.remove(name, this));
                } else {
                    ctx.close();
                }
            } else if (event instanceof ZMTPHandshakeFailure failure) {
                System.err.println(failure); // the codec closes the channel
            }
        }

        /** Nobody may take over the name of another user, nor its messages. A user that has reconnected may. */
        private boolean takeName() {
            Peer holder = peers.putIfAbsent(name, this);
            if (holder == null) {
                return true;
            }
            boolean sameUser = !userId.isEmpty() && userId.equals(holder.userId); // empty if not authenticated
            if (sameUser && peers.replace(name, holder, this)) {
                holder.channel.close(); // its peer may be gone: it is not asked
                return true;
            }
            return false;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage message) {
            ZMTPMessage body = message.pop(); // without its first frame; message is still ours to release
            send(message.frame(0).nioBuffer(), body.push(Unpooled.wrappedBuffer(name)));
            body.release();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("failed: " + cause);
            ctx.close();
        }
    }
}
