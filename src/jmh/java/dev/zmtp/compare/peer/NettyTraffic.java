package dev.zmtp.compare.peer;

import io.netty.channel.ChannelHandler;

/** What is done with a connection. */
interface NettyTraffic {

    /** The event that tells the connecting end to begin: all connections are there. */
    Object GO = new Object();

    /** Returns the handler for one new connection. Those of one end are on one event loop, and count together. */
    ChannelHandler handler(boolean binding, Counter messages);
}
