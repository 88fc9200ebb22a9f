package dev.zmtp.compare.peer;

import io.netty.channel.ChannelHandler;

/** What the ends of a connection do. */
interface NettyTraffic {

    /** The event on which the connecting end begins: all connections are established. */
    Object GO = new Object();

    /**
     * Returns the handler for one new connection. The handlers of one end are on one event loop and share a counter.
     */
    ChannelHandler handler(boolean binding, Counter messages);
}
