package dev.zmtp.internal.socket.context;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The event loops of all sockets that were given none. They end when the last of these sockets is closed. Their threads
 * are daemons: a program that only waits for messages has to wait for the end of its socket.
 */
public final class SharedGroup {

    private static @Nullable EventLoopGroup group;

    /** Completes when the present group, and those before it, have ended. */
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

    /** Completes when the groups that there are now have ended, and their threads. */
    public static synchronized CompletableFuture<Void> ended() {
        return ended.copy();
    }

    public static synchronized void release() {
        if (--users == 0 && group != null) {
            // Without a quiet period Netty 4.2 may leave channels open that do not end by themselves.
            group.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS);
            group = null;
        }
    }
}
