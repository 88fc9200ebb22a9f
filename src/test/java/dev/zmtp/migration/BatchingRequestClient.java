package dev.zmtp.migration;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.BatchFlusher;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.codec.ZMTPSession;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.CharsetUtil;
import io.netty.util.concurrent.Future;
import java.net.SocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An old-style program: a DEALER that many threads send requests through, with one {@link BatchFlusher} for them all.
 */
final class BatchingRequestClient {

    private final ConcurrentMap<String, CompletableFuture<String>> pending = new ConcurrentHashMap<>();
    private final AtomicLong number = new AtomicLong();
    private final ZMTPSession session;
    private final Channel channel;
    private final BatchFlusher flusher;

    BatchingRequestClient(EventLoopGroup group, SocketAddress server) {
        ZMTPConfig defaults =
                ZMTPConfig.builder().socketType(ZMTPSocketType.DEALER).build();
        session = ZMTPSession.from(defaults.toBuilder().localIdentity("asker").build());
        channel = new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.from(session), new Replies());
                    }
                })
                .connect(server)
                .syncUninterruptibly()
                .channel();
        flusher = new BatchFlusher(channel, 16);
    }

    Future<ZMTPHandshake> ready() {
        return session.handshakeFuture();
    }

    /** Asks from any thread. Completes with the status and the body of the reply. */
    CompletableFuture<String> ask(String path, String body) {
        String id = Long.toString(number.incrementAndGet());
        CompletableFuture<String> reply = new CompletableFuture<>();
        pending.put(id, reply);
        channel.write(ZMTPMessage.fromUTF8("", id, "GET", path, "no-cache", body));
        flusher.flush();
        return reply;
    }

    void close() {
        channel.close().syncUninterruptibly();
    }

    private final class Replies extends SimpleChannelInboundHandler<ZMTPMessage> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage reply) {
            String[] frames = new String[reply.size()];
            int i = 0;
            for (ByteBuf frame : reply) {
                frames[i++] = frame.toString(CharsetUtil.UTF_8);
            }
            CompletableFuture<String> asked = pending.remove(frames[1]);
            asked.complete(frames[2] + " " + frames[5]);
        }
    }
}
