package dev.zmtp.attack;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Honest peers that connect one after the other while the attack goes on. Each wants one message, and connects again
 * when it is refused, as ZeroMQ sockets do.
 */
final class Newcomers {

    /** How long a newcomer may wait for its message. */
    static final Duration PATIENCE = Duration.ofSeconds(3);

    private static final int EVERY_MILLIS = 200;
    private static final int AGAIN_MILLIS = 100;

    private final EventLoop loop;
    private final SocketAddress server;
    private final Service service;
    private final Future<?> arrivals;

    /** What follows is the loop's alone. */
    private int tried;

    private int served;
    private int lost;
    private long longest;
    private int connections;
    private String lastFailure = "none";

    /**
     * How they fared.
     *
     * @param tried how many there were
     * @param served how many of them had their message in time
     * @param longest the nanoseconds that the slowest of these took
     * @param connections how many connections they made, as some were refused
     * @param lastFailure what ended one of them last
     */
    record Tally(int tried, int served, long longest, int connections, String lastFailure) {}

    /** Starts to send them. */
    Newcomers(EventLoop loop, SocketAddress server, Service service) {
        this.loop = loop;
        this.server = server;
        this.service = service;
        arrivals = loop.scheduleAtFixedRate(
                () -> new Newcomer().arrive(), EVERY_MILLIS, EVERY_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Sends no more, and waits until each is served or lost. */
    Tally finish() throws InterruptedException, ExecutionException {
        arrivals.cancel(false);
        while (loop.submit(() -> served + lost < tried).get()) {
            Thread.sleep(10);
        }
        return loop.submit(() -> new Tally(tried, served, longest, connections, lastFailure))
                .get();
    }

    private final class Newcomer {
        private final long start = System.nanoTime();
        private final Bootstrap bootstrap =
                HonestPeer.bootstrap(loop, service, () -> new FirstMessage(service, () -> end(true), this::failed));
        private boolean done;

        private void arrive() {
            tried++;
            loop.schedule(() -> end(false), PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            connect();
        }

        private void connect() {
            if (done) {
                return;
            }
            ChannelFuture connected = bootstrap.connect(server);
            connected.addListener(result -> {
                if (result.isSuccess()) {
                    connections++;
                } else {
                    failed(result.cause());
                }
            });
            Channel channel = connected.channel();
            Future<?> patience = loop.schedule(
                    () -> channel.close(), start + PATIENCE.toNanos() - System.nanoTime(), TimeUnit.NANOSECONDS);
            channel.closeFuture().addListener(closed -> {
                patience.cancel(false);
                loop.schedule(this::connect, AGAIN_MILLIS, TimeUnit.MILLISECONDS);
            });
        }

        private void failed(Throwable cause) {
            lastFailure = cause.toString();
        }

        private void end(boolean wasServed) {
            if (done) {
                return;
            }
            done = true;
            if (wasServed) {
                served++;
                longest = Math.max(longest, System.nanoTime() - start);
            } else {
                lost++;
            }
        }
    }
}
