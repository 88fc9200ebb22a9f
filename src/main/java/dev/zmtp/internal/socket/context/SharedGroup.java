package dev.zmtp.internal.socket.context;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The event loops shared by all sockets without an event loop group of their own. They end soon after the last of these
 * sockets is closed. A socket that is opened before then keeps them, because a program can use one socket after the
 * other, and event loops are threads and files. Their threads are daemons, so a program that only waits for messages
 * has to wait for the end of its socket.
 */
public final class SharedGroup {

    /** Time for which event loops that nobody uses are kept, in milliseconds. */
    private static final int KEPT = 100;

    private static @Nullable EventLoopGroup group;

    /** Completes when the current group and all previous groups have ended. */
    private static CompletableFuture<Void> ended = CompletableFuture.completedFuture(null);

    private static int users;

    /** Number of users that there have ever been. */
    private static long uses;

    private SharedGroup() {}

    @SuppressWarnings("deprecation") // its successor is in Netty 4.2 only
    public static synchronized EventLoopGroup acquire() {
        EventLoopGroup acquired = group;
        if (acquired == null || acquired.isShuttingDown()) {
            GroupEnd end = new GroupEnd(ended);
            acquired = new NioEventLoopGroup(0, end.threads());
            end.of(acquired);
            ended = end;
            group = acquired;
        }
        users++;
        uses++;
        return acquired;
    }

    /** Completes when the groups that exist now have ended, including their threads. */
    public static synchronized CompletableFuture<Void> ended() {
        if (users == 0) {
            end(); // somebody waits for it
        }
        return ended.copy();
    }

    public static synchronized void release() {
        if (--users == 0 && group != null) {
            long last = uses;
            try { // on a daemon thread, because the program might end now
                group.next().schedule(() -> endAfter(last), KEPT, TimeUnit.MILLISECONDS);
            } catch (Throwable e) { // no thread can be started, or somebody has shut the group down
                end();
            }
        }
    }

    private static synchronized void endAfter(long last) {
        if (uses == last && users == 0) {
            end();
        }
    }

    private static void end() {
        if (group != null) {
            // Without a quiet period Netty 4.2 can leave channels open that do not end by themselves.
            group.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS);
            group = null;
        }
    }
}
