package dev.zmtp.testing;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import java.util.concurrent.TimeUnit;

/** Event loops for one test, by default of NIO. They are made the way that both Netty 4.1 and 4.2 know. */
public final class EventLoops implements AutoCloseable {

    private static final int PATIENCE_SECONDS = 30;

    private final EventLoopGroup group;

    /** Starts no thread yet: each loop does so with its first channel. */
    public EventLoops(int threads) {
        this(newGroup(threads));
    }

    /** Takes over loops of any transport. */
    public EventLoops(EventLoopGroup group) {
        this.group = group;
    }

    /** Returns loops that the caller shuts down. */
    @SuppressWarnings("deprecation") // Its successor in 4.2 does not exist in 4.1, where these tests run too.
    public static EventLoopGroup newGroup(int threads) {
        return new NioEventLoopGroup(threads);
    }

    /** The loops, for bootstraps. */
    public EventLoopGroup group() {
        return group;
    }

    /**
     * Closes all channels of the loops and returns when their threads have ended, so that no buffer is open any more.
     */
    @Override
    public void close() {
        group.shutdownGracefully(0, PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (!group.terminationFuture().awaitUninterruptibly(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("event loops: still running (expected: ended)");
        }
    }
}
