package dev.zmtp.internal.socket.context;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The event loops shared by all sockets without an event loop group of their own. They end when the last of these
 * sockets is closed. Their threads are daemons, so a program that only waits for messages has to wait for the end of
 * its socket.
 */
public final class SharedGroup {

    private static @Nullable EventLoopGroup group;

    /** Completes when the current group and all previous groups have ended. */
    private static CompletableFuture<Void> ended = CompletableFuture.completedFuture(null);

    private static int users;

    private SharedGroup() {}

    @SuppressWarnings("deprecation") // its successor is in Netty 4.2 only
    public static synchronized EventLoopGroup acquire() {
        if (group == null) {
            GroupEnd end = new GroupEnd(ended);
            group = new NioEventLoopGroup(0, end.threads());
            end.of(group);
            ended = end;
        }
        users++;
        return group;
    }

    /** Completes when the groups that exist now have ended, including their threads. */
    public static synchronized CompletableFuture<Void> ended() {
        return ended.copy();
    }

    public static synchronized void release() {
        if (--users == 0 && group != null) {
            // Without a quiet period Netty 4.2 can leave channels open that do not end by themselves.
            group.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS);
            group = null;
        }
    }
}
