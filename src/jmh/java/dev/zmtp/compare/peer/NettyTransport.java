package dev.zmtp.compare.peer;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;

/** How event loops are made and kept awake, which is not the same in all versions of Netty. */
interface NettyTransport {
    /** Returns a new group of one event loop. */
    EventLoopGroup group();

    Class<? extends Channel> channelType();

    Class<? extends ServerChannel> serverChannelType();

    /** Has {@code loop} run {@code turn} each time that it has looked for events, for ever: so it never sleeps. */
    void spin(EventLoop loop, Runnable turn);
}
