package dev.zmtp.testing;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import java.util.concurrent.TimeUnit;

/** Event loops for one test, by default of NIO. They are made the way that both Netty 4.1 and 4.2 know. */
public final class EventLoops implements AutoCloseable {

    private static final int PATIENCE_SECONDS = 30;

    /** After which Netty 4.2 leaves no channel open. */
    private static final int QUIET_MILLIS = 10;

    private final EventLoopGroup group;
    private final int quietMillis;

    /** Starts no thread yet: each loop does so with its first channel. */
    public EventLoops(int threads) {
        this(newGroup(threads));
    }

    /** Takes over loops of any transport. */
    public EventLoops(EventLoopGroup group) {
        this(group, 0);
    }

    private EventLoops(EventLoopGroup group, int quietMillis) {
        this.group = group;
        this.quietMillis = quietMillis;
    }

    /**
     * Returns loops that end after a moment in which nothing happens. Without it, Netty 4.2.18 leaves a channel open now
     * and then, and so the memory of one that depends on it.
     */
    public static EventLoops resting(int threads) {
        return new EventLoops(newGroup(threads), QUIET_MILLIS);
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
        group.shutdownGracefully(quietMillis, TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS), TimeUnit.MILLISECONDS);
        if (!group.terminationFuture().awaitUninterruptibly(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("event loops: still running (expected: ended)");
        }
    }
}
