package dev.zmtp.migration;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.codec.ZMTPProtocols;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.CharsetUtil;
import java.net.SocketAddress;
import java.util.concurrent.CompletableFuture;

/** An old-style program: a DEALER that sends one message again and again, as fast as the channel takes it. */
final class ThroughputClient {

    private static final int BATCH = 64;

    /** Completes with the server's count of messages and of the bytes of their last frames. */
    final CompletableFuture<String> counted = new CompletableFuture<>();

    private final int total;
    private final ZMTPMessage message;

    /** Sends {@code payload} {@code total} times, after an envelope. */
    ThroughputClient(EventLoopGroup group, SocketAddress server, int total, CharSequence payload) {
        this.total = total;
        this.message = ZMTPMessage.fromUTF8("envelope", "", payload);
        new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ZMTPCodec codec = ZMTPCodec.builder()
                                .protocol(ZMTPProtocols.ZMTP20)
                                .interop(true)
                                .socketType(ZMTPSocketType.DEALER)
                                .localIdentity("throughput")
                                .build();
                        ch.pipeline().addLast(codec, new Sender());
                    }
                })
                .connect(server);
    }

    private final class Sender extends ChannelInboundHandlerAdapter {
        private int sent;
        private boolean ready;

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object evt) throws Exception {
            if (evt instanceof ZMTPHandshakeSuccess) {
                ready = true;
                send(ctx);
            } else if (evt instanceof ZMTPHandshakeFailure) {
                counted.completeExceptionally(new IllegalStateException("no handshake"));
            }
            super.userEventTriggered(ctx, evt);
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            send(ctx);
        }

        private void send(ChannelHandlerContext ctx) {
            while (ready && sent < total && ctx.channel().isWritable()) {
                for (int i = 0; i < BATCH && sent < total; i++) {
                    sent++;
                    ctx.write(message.retain());
                }
                if (sent == total) {
                    ctx.write(ZMTPMessage.fromUTF8("total?"));
                }
                ctx.flush();
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ZMTPMessage answer = (ZMTPMessage) msg;
            counted.complete(answer.frame(0).toString(CharsetUtil.UTF_8) + " of "
                    + answer.frame(1).toString(CharsetUtil.UTF_8));
            answer.release();
            ctx.close();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            message.release();
            counted.completeExceptionally(new IllegalStateException("closed"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            counted.completeExceptionally(cause);
            ctx.close();
        }
    }
}
