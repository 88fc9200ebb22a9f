package dev.zmtp.attack;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.EventLoop;
import java.net.SocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Honest peers that come, have one message, and leave, before anything is measured. A server that has been up for a
 * while has compiled what a connection takes; a young one would do it during the attack, with half of its CPU time.
 */
final class Visitors {

    private static final int AT_A_TIME = 8;
    private static final int SECONDS = 60;

    /** The part of them that must have been served: a server that refuses them compiles something else. */
    private static final double SERVED = 0.95;

    private final EventLoop loop;
    private final SocketAddress server;
    private final Bootstrap bootstrap;
    private final int count;
    private final CountDownLatch left;
    private final AtomicInteger served = new AtomicInteger();

    /** The loop's alone. */
    private int toCome;

    /** Sends {@code count} of them. */
    Visitors(EventLoop loop, SocketAddress server, Service service, int count) {
        this.loop = loop;
        this.server = server;
        this.bootstrap = HonestPeer.bootstrap(
                loop, service, () -> new FirstMessage(service, served::incrementAndGet, failed -> {}));
        this.count = count;
        this.left = new CountDownLatch(count);
        this.toCome = count;
        loop.execute(() -> {
            for (int i = 0; i < AT_A_TIME; i++) {
                next();
            }
        });
    }

    private void next() {
        if (toCome == 0) {
            return;
        }
        toCome--;
        bootstrap.connect(server).channel().closeFuture().addListener(closed -> {
            left.countDown();
            loop.execute(this::next);
        });
    }

    /** Waits until all have left. */
    void await() throws InterruptedException {
        if (!left.await(SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("visitors: " + left.getCount() + " have not left within " + SECONDS + " s");
        }
        if (served.get() < count * SERVED) {
            throw new IllegalStateException("visitors served: " + served + " (expected: nearly all of " + count + ")");
        }
    }
}
