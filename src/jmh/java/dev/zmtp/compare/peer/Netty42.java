package dev.zmtp.compare.peer;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import io.netty.util.internal.PlatformDependent;
import java.util.function.Supplier;

/** The transports of Netty 4.2, each with its defaults. */
final class Netty42 implements NettyTransport {

    private final Supplier<IoHandlerFactory> handlers;
    private final Class<? extends Channel> channelType;
    private final Class<? extends ServerChannel> serverChannelType;

    private Netty42(
            Supplier<IoHandlerFactory> handlers,
            Class<? extends Channel> channelType,
            Class<? extends ServerChannel> serverChannelType) {
        this.handlers = handlers;
        this.channelType = channelType;
        this.serverChannelType = serverChannelType;
    }

    /** Returns the transport that the run asks for, and adds Netty's direct memory to its marks. */
    static Netty42 of(Program program) throws UnsupportedException {
        if (PlatformDependent.useDirectBufferNoCleaner()) {
            program.marks().hiddenMemory(PlatformDependent::usedDirectMemory);
        }
        return switch (program.arguments().transport().orElse("nio")) {
            case "epoll" -> {
                check("epoll", Epoll.unavailabilityCause());
                yield new Netty42(EpollIoHandler::newFactory, EpollSocketChannel.class, EpollServerSocketChannel.class);
            }
            case "io_uring" -> {
                check("io_uring", IoUring.unavailabilityCause());
                yield new Netty42(
                        IoUringIoHandler::newFactory, IoUringSocketChannel.class, IoUringServerSocketChannel.class);
            }
            default -> new Netty42(NioIoHandler::newFactory, NioSocketChannel.class, NioServerSocketChannel.class);
        };
    }

    private static void check(String transport, Throwable unavailable) throws UnsupportedException {
        if (unavailable != null) {
            Throwable root = unavailable;
            while (root.getCause() != null) {
                root = root.getCause();
            }
            throw new UnsupportedException(transport + ": " + root.getMessage());
        }
    }

    @Override
    public EventLoopGroup group() {
        return new MultiThreadIoEventLoopGroup(1, handlers.get());
    }

    @Override
    public Class<? extends Channel> channelType() {
        return channelType;
    }

    @Override
    public Class<? extends ServerChannel> serverChannelType() {
        return serverChannelType;
    }

    @Override
    public void spin(EventLoop loop, Runnable turn) {
        loop.execute(new Spin((SingleThreadEventLoop) loop, turn));
    }

    /**
     * A task that runs once in each turn of its loop. While there is a task, all transports look for events without
     * waiting. If it simply executed itself again, the loop would run it for up to a second before it looked for
     * events. It is therefore executed again after the end of the turn.
     */
    private static final class Spin implements Runnable {
        private final SingleThreadEventLoop loop;
        private final Runnable turn;
        private final Runnable again;

        Spin(SingleThreadEventLoop loop, Runnable turn) {
            this.loop = loop;
            this.turn = turn;
            this.again = () -> loop.execute(this);
        }

        @Override
        public void run() {
            turn.run();
            loop.executeAfterEventLoopIteration(again);
        }
    }
}
