package dev.zmtp.compare.peer;

import dev.zmtp.shm.SharedMemoryChannel;
import dev.zmtp.shm.SharedMemoryChannelOption;
import dev.zmtp.shm.SharedMemoryServerChannel;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringDomainSocketChannel;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerDomainSocketChannel;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import io.netty.util.internal.PlatformDependent;
import java.net.SocketAddress;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The transports of Netty 4.2, each with its defaults. */
final class Netty42 implements NettyTransport {

    private final Supplier<IoHandlerFactory> handlers;
    private final Class<? extends Channel> channelType;
    private final Class<? extends ServerChannel> serverChannelType;

    /** Where the files of Unix domain sockets are; null for TCP. */
    private final @Nullable UnixSockets sockets;

    private Netty42(
            Supplier<IoHandlerFactory> handlers,
            Class<? extends Channel> channelType,
            Class<? extends ServerChannel> serverChannelType,
            @Nullable UnixSockets sockets) {
        this.handlers = handlers;
        this.channelType = channelType;
        this.serverChannelType = serverChannelType;
        this.sockets = sockets;
    }

    /** Returns the transport that the run asks for, and adds Netty's direct memory to its marks. */
    static Netty42 of(Program program) throws UnsupportedException {
        if (PlatformDependent.useDirectBufferNoCleaner()) {
            program.marks().hiddenMemory(PlatformDependent::usedDirectMemory);
        }
        Medium medium = program.arguments().medium();
        boolean ipc = medium == Medium.IPC;
        String transport = program.arguments().transport().orElse("nio");
        if (medium == Medium.SHM) {
            if (!transport.equals("nio")) {
                throw new UnsupportedException("shared memory is measured with nio");
            }
            return new Netty42(
                    NioIoHandler::newFactory,
                    SharedMemoryChannel.class,
                    SharedMemoryServerChannel.class,
                    UnixSockets.SHARED_MEMORY);
        }
        return switch (transport) {
            case "epoll" -> {
                check("epoll", Epoll.unavailabilityCause());
                Supplier<IoHandlerFactory> handlers = EpollIoHandler::newFactory;
                yield ipc
                        ? new Netty42(
                                handlers,
                                EpollDomainSocketChannel.class,
                                EpollServerDomainSocketChannel.class,
                                UnixSockets.NATIVE)
                        : new Netty42(handlers, EpollSocketChannel.class, EpollServerSocketChannel.class, null);
            }
            case "io_uring" -> {
                check("io_uring", IoUring.unavailabilityCause());
                Supplier<IoHandlerFactory> handlers = IoUringIoHandler::newFactory;
                yield ipc
                        ? new Netty42(
                                handlers,
                                IoUringDomainSocketChannel.class,
                                IoUringServerDomainSocketChannel.class,
                                UnixSockets.NATIVE)
                        : new Netty42(handlers, IoUringSocketChannel.class, IoUringServerSocketChannel.class, null);
            }
            default -> {
                Supplier<IoHandlerFactory> handlers = NioIoHandler::newFactory;
                yield ipc
                        ? new Netty42(
                                handlers,
                                NioDomainSocketChannel.class,
                                NioServerDomainSocketChannel.class,
                                UnixSockets.JDK)
                        : new Netty42(handlers, NioSocketChannel.class, NioServerSocketChannel.class, null);
            }
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
    public SocketAddress address(int port) {
        return sockets == null ? NettyTransport.super.address(port) : sockets.address(port);
    }

    @Override
    public int port(SocketAddress address) {
        return sockets == null ? NettyTransport.super.port(address) : UnixSockets.number(address);
    }

    @Override
    public void neverSleep(Channel connection) {
        if (connection instanceof SharedMemoryChannel) {
            connection.config().setOption(SharedMemoryChannelOption.SPIN_MICROS, Integer.MAX_VALUE);
        }
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
