package dev.zmtp.testing;

import io.netty.channel.EventLoopGroup;

/** Event loops that are made the same way on Netty 4.1 and 4.2. */
public final class EventLoops {

    private EventLoops() {}

    /** Returns a group of NIO event loops, the caller's to shut down. */
    @SuppressWarnings("deprecation") // What 4.2 has instead is not there in 4.1.
    public static EventLoopGroup newGroup(int threads) {
        return new io.netty.channel.nio.NioEventLoopGroup(threads);
    }
}
