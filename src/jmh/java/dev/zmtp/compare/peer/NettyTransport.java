package dev.zmtp.compare.peer;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/** How channels and event loops are made and kept awake, which differs between versions of Netty. */
interface NettyTransport {
    /** Returns a new group of one event loop. */
    EventLoopGroup group();

    Class<? extends Channel> channelType();

    Class<? extends ServerChannel> serverChannelType();

    /** Returns the address of {@code port}; 0 is any that is free. */
    default SocketAddress address(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    /** Returns the port of a server's {@code address}. */
    default int port(SocketAddress address) {
        return ((InetSocketAddress) address).getPort();
    }

    /** Sets what a connection needs so that it never sleeps either. */
    default void neverSleep(Channel connection) {}

    /** Makes {@code loop} run {@code turn} each time after it has looked for events, forever: it never sleeps. */
    void spin(EventLoop loop, Runnable turn);
}
