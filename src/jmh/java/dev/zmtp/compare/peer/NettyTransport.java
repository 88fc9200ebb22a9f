package dev.zmtp.compare.peer;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;

/** How event loops are created and kept awake, which differs between versions of Netty. */
interface NettyTransport {
    /** Returns a new group of one event loop. */
    EventLoopGroup group();

    Class<? extends Channel> channelType();

    Class<? extends ServerChannel> serverChannelType();

    /** Makes {@code loop} run {@code turn} each time after it has looked for events, forever: it never sleeps. */
    void spin(EventLoop loop, Runnable turn);
}
