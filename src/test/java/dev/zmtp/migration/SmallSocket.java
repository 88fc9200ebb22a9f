package dev.zmtp.migration;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.codec.ZMTPSession;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * An old-style program: a socket with many peers. As a ROUTER it puts the identity of the sender in front of what it
 * receives, and takes the identity of the receiver off what it sends; as any other type it sends to all its peers.
 */
final class SmallSocket {

    /** What was received: the taker's to release. */
    final BlockingQueue<ZMTPMessage> received = new LinkedBlockingQueue<>();

    /** A session for each peer that came. */
    final BlockingQueue<ZMTPSession> sessions = new LinkedBlockingQueue<>();

    private final ConcurrentMap<ByteBuffer, Channel> peers = new ConcurrentHashMap<>();
    private final EventLoopGroup group;
    private final ZMTPSocketType type;
    private final CharSequence identity;

    SmallSocket(EventLoopGroup group, ZMTPSocketType type, CharSequence identity) {
        this.group = group;
        this.type = type;
        this.identity = identity;
    }

    SocketAddress bind() {
        return new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new Initializer())
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .syncUninterruptibly()
                .channel()
                .localAddress();
    }

    void connect(SocketAddress address) {
        new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .handler(new Initializer())
                .connect(address)
                .syncUninterruptibly();
    }

    Collection<ByteBuffer> identities() {
        return peers.keySet();
    }

    /** Sends a message, which it takes over. Returns whether there is a peer to send it to. */
    boolean send(ZMTPMessage message) {
        try {
            if (type != ZMTPSocketType.ROUTER) {
                for (Channel peer : peers.values()) {
                    peer.writeAndFlush(message.retain());
                }
                return !peers.isEmpty();
            }
            Channel peer = peers.get(message.frame(0).nioBuffer());
            if (peer == null) {
                return false;
            }
            peer.writeAndFlush(message.pop());
            return true;
        } finally {
            message.release();
        }
    }

    void close() {
        for (Channel peer : peers.values()) {
            peer.close().syncUninterruptibly();
        }
    }

    private final class Initializer extends ChannelInitializer<Channel> {
        @Override
        protected void initChannel(Channel ch) {
            ZMTPCodec codec =
                    ZMTPCodec.builder().socketType(type).localIdentity(identity).build();
            ch.pipeline().addLast(codec, new Peer());
        }
    }

    private final class Peer extends ChannelInboundHandlerAdapter {
        private ZMTPSession session;

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
            if (evt instanceof ZMTPHandshakeSuccess success) {
                session = success.session();
                peers.put(session.peerIdentity(), ctx.channel());
                sessions.add(session);
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ZMTPMessage message = (ZMTPMessage) msg;
            if (type != ZMTPSocketType.ROUTER) {
                received.add(message);
                return;
            }
            received.add(message.push(Unpooled.wrappedBuffer(session.peerIdentity())));
            message.release();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (session != null) {
                peers.remove(session.peerIdentity(), ctx.channel());
            }
        }
    }
}
