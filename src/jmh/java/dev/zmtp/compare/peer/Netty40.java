package dev.zmtp.compare.peer;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

/** The NIO transport of Netty 4.0. */
final class Netty40 implements NettyTransport {

    private Netty40() {}

    static Netty40 of(Program program) throws UnsupportedException {
        String transport = program.arguments().transport().orElse("nio");
        if (!transport.equals("nio")) {
            throw new UnsupportedException(transport + ": not with Netty 4.0");
        }
        if (program.arguments().medium() != Medium.TCP) {
            throw new UnsupportedException("Netty 4.0 has no Unix domain sockets in Java");
        }
        return new Netty40();
    }

    @Override
    @SuppressWarnings("deprecation") // its replacement is in 4.2
    public EventLoopGroup group() {
        return new NioEventLoopGroup(1);
    }

    @Override
    public Class<? extends Channel> channelType() {
        return NioSocketChannel.class;
    }

    @Override
    public Class<? extends ServerChannel> serverChannelType() {
        return NioServerSocketChannel.class;
    }

    /**
     * A task that executes itself again. Netty 4.0 runs up to 64 of these, and then looks for events without waiting.
     */
    @Override
    public void spin(EventLoop loop, Runnable turn) {
        loop.execute(new Runnable() {
            @Override
            public void run() {
                turn.run();
                loop.execute(this);
            }
        });
    }
}
