package dev.zmtp.bench;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
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

/** The socket transports of Netty. */
public enum SocketTransport {
    /** The selector of the JDK. */
    NIO,
    /** Native, Linux only. */
    EPOLL,
    /** Native, if the kernel supports and permits it. */
    IO_URING;

    /**
     * Returns one event loop, the caller's to shut down.
     *
     * @throws IllegalStateException if this machine does not support the transport
     */
    EventLoopGroup newLoop() {
        return new MultiThreadIoEventLoopGroup(1, factory());
    }

    private IoHandlerFactory factory() {
        return switch (this) {
            case NIO -> NioIoHandler.newFactory();
            case EPOLL -> {
                check(Epoll.unavailabilityCause());
                yield EpollIoHandler.newFactory();
            }
            case IO_URING -> {
                check(IoUring.unavailabilityCause());
                yield IoUringIoHandler.newFactory();
            }
        };
    }

    private void check(Throwable unavailable) {
        if (unavailable != null) {
            throw new IllegalStateException(
                    "transport: " + this + " (expected: one that this machine supports; choose with -p transport=...)",
                    unavailable);
        }
    }

    /** The class of channels that accept. */
    Class<? extends ServerChannel> serverChannel() {
        return switch (this) {
            case NIO -> NioServerSocketChannel.class;
            case EPOLL -> EpollServerSocketChannel.class;
            case IO_URING -> IoUringServerSocketChannel.class;
        };
    }

    /** The class of channels that connect. */
    Class<? extends Channel> channel() {
        return switch (this) {
            case NIO -> NioSocketChannel.class;
            case EPOLL -> EpollSocketChannel.class;
            case IO_URING -> IoUringSocketChannel.class;
        };
    }
}
