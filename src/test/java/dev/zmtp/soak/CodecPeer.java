package dev.zmtp.soak;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import java.net.SocketAddress;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** A peer of this codec's, for one connection. */
final class CodecPeer {

    private CodecPeer() {}

    /** Connects to {@code address} with a channel of {@code type}, and returns when the connection is closed. */
    static void converse(
            EventLoopGroup loops,
            Link link,
            Class<? extends Channel> type,
            SocketAddress address,
            Totals totals,
            Random shape)
            throws InterruptedException {
        Plan plan = link.plan();
        ZMTPConfig config = ZMTPConfig.builder()
                .socketType(plan.pattern().peer())
                .protocol(plan.version())
                .build();
        ChannelFuture connected = new Bootstrap()
                .group(loops)
                .channel(type)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline()
                                .addLast(ZMTPCodec.from(config), new CodecEnd(link, false, plan.peer(), totals, shape));
                    }
                })
                .connect(address);
        while (!connected.channel().closeFuture().await(1, TimeUnit.SECONDS)) {
            if (link.hangs(Slot.PATIENCE)) {
                link.violated("hangs: nothing has happened for " + Slot.PATIENCE);
                connected.channel().close().await();
            }
        }
    }
}
