package dev.zmtp.test;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPStats;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.BlockingOperationException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Event loop for tests, on the thread that creates it. Its time stands still until the test moves it, so a timeout of
 * an hour takes no time, and no test has to sleep.
 *
 * <pre>{@code
 *   @AutoClose ZMTPTestLoop loop = ZMTPTestLoop.create();
 *   ...
 *   ZMTPSocket req = loop.open(ZMTPSocketConfig.builder(REQ));
 *   req.connect("test://service");
 *   CompletableFuture<ZMTPMessage> answer = req.requestAsync(ZMTPMessage.fromUTF8("?"), Duration.ofSeconds(5));
 *   loop.advance(Duration.ofSeconds(5));
 *   assertThat(answer).isCompletedExceptionally();
 * }</pre>
 *
 * <p>Sockets of a loop have the transports {@code inproc://}, which passes messages by reference, and {@code test://},
 * which passes bytes with the codec and its handshake and holds up to 64 KiB on the way. Names of endpoints belong to
 * the loop, so tests can run in parallel. The loop opens no port and starts no thread.
 *
 * <p>Everything happens in {@link #run()} and {@link #advance}: connections, handshakes, handlers and the completion of
 * futures. Call all methods of this class on the thread that has created the loop. Until the loop is closed, this
 * thread counts as an event loop, so socket and future methods that wait throw {@link BlockingOperationException}. Two
 * runs of a test with the same seed send the same bytes, except for the keys of CURVE.
 *
 * <p>Needs Netty 4.2.
 */
public final class ZMTPTestLoop implements AutoCloseable {

    /** Virtual time in which most sockets are closed. */
    private static final long CLOSING_NANOS = Duration.ofMillis(100).toNanos();

    /** Maximum virtual time in which a socket is closed, or a future completes. */
    private static final long PATIENCE_NANOS = Duration.ofHours(1).toNanos();

    private final VirtualLoop loop;
    private final List<WatchedSocket> sockets = new ArrayList<>();
    private final List<ZMTPTestPeer> peers = new ArrayList<>();
    private boolean closed;

    private ZMTPTestLoop(VirtualLoop loop) {
        this.loop = loop;
    }

    /**
     * Returns a loop with the seed 0.
     *
     * @throws UnsupportedOperationException if Netty is older than 4.2
     */
    public static ZMTPTestLoop create() {
        return of(0);
    }

    /**
     * Returns a loop. Routing ids, the numbers of requests, and the times of reconnects are derived from the seed.
     *
     * @throws UnsupportedOperationException if Netty is older than 4.2
     */
    public static ZMTPTestLoop of(long seed) {
        try {
            return new ZMTPTestLoop(new VirtualLoop(seed));
        } catch (NoClassDefFoundError e) {
            throw new UnsupportedOperationException("netty: older than 4.2 (expected: 4.2 or later)", e);
        }
    }

    /** Returns the event loop, for tasks, timers and sockets that are not watched. */
    public EventLoop eventLoop() {
        return loop;
    }

    /**
     * Opens a socket on this loop, whose messages and handlers are checked in {@link #close}. The group and the
     * executors of handshakes in the config are ignored.
     */
    public ZMTPSocket open(ZMTPSocketConfig.Builder config) {
        checkOpen();
        WatchedSocket watched = new WatchedSocket(loop, config.build());
        sockets.add(watched);
        return watched.socket;
    }

    /** Returns the time since the loop was created. */
    public Duration time() {
        return loop.time();
    }

    /** Runs all tasks that are due now, including those that follow from them, and returns their number. */
    public int run() {
        checkThread();
        return loop.runDue();
    }

    /**
     * Moves the time, and runs each timer at its moment.
     *
     * @param time at least zero
     * @return the number of tasks that have run
     */
    public int advance(Duration time) {
        checkThread();
        if (time.isNegative()) {
            throw new IllegalArgumentException("time: " + time + " (expected: >= 0)");
        }
        return loop.advance(time.toNanos());
    }

    /**
     * Runs and moves the time from timer to timer until the future is complete, and returns its result:
     * {@code loop.await(socket.bind("test://service").readyFuture())}.
     *
     * @throws AssertionError if the future is not complete when no timer is left, or after an hour of virtual time
     * @throws CompletionException if the future fails
     */
    public <T> T await(CompletableFuture<T> future) {
        checkThread();
        if (!completes(future)) {
            throw new AssertionError("future: not complete at " + time() + " (expected: complete)");
        }
        return future.join();
    }

    private boolean completes(CompletableFuture<?> future) {
        loop.runDue();
        long end = loop.currentNanos() + PATIENCE_NANOS;
        while (!future.isDone() && loop.runTimer(end) >= 0) {
            // until it is done, or there are no more timers
        }
        return future.isDone();
    }

    /**
     * Breaks all connections of a socket, as a failure of the network would. Messages on their way are lost. Both ends
     * find out in the next {@link #run()}.
     *
     * @param socket a socket of this loop, as returned by {@link #open}
     */
    public void cut(ZMTPSocket socket) {
        checkThread();
        watched(socket).cut();
    }

    WatchedSocket watched(ZMTPSocket socket) {
        for (WatchedSocket watched : sockets) {
            if (watched.socket == socket) {
                return watched;
            }
        }
        throw new IllegalArgumentException("socket: " + socket + " (expected: a socket that this loop has opened)");
    }

    /**
     * Returns the exceptions that handlers of messages and requests have thrown since the last call. {@link #close}
     * does not fail because of these exceptions.
     */
    public List<Throwable> takeFailures() {
        checkThread();
        List<Throwable> failures = new ArrayList<>();
        sockets.forEach(watched -> failures.addAll(watched.takeFailures()));
        return failures;
    }

    /**
     * Closes the sockets and peers of this loop, and ends it. Futures that are still open fail. A socket that lingers
     * gets the virtual time that it needs. Before this call, close all sockets that were not opened by this loop.
     *
     * @throws AssertionError if a handler of messages or requests has thrown, if a socket does not close, or if a
     *     received message was not released. The error names the socket
     */
    @Override
    public void close() {
        checkThread();
        if (closed) {
            return;
        }
        closed = true;
        List<String> faults = new ArrayList<>();
        try {
            closeSockets(faults);
        } catch (AssertionError endless) { // the tasks would not end in what follows either
            loop.leaveThread();
            throw endless;
        }
        if (!loop.end()) {
            faults.add("event loop: still running");
        }
        List<Throwable> failures = takeFailures();
        failures.forEach(failure -> faults.add("a handler has thrown " + failure));
        sockets.forEach(watched -> faults.addAll(watched.unreleased()));
        if (!faults.isEmpty()) {
            AssertionError error = new AssertionError(String.join("; ", faults));
            failures.forEach(error::addSuppressed);
            throw error;
        }
    }

    private void closeSockets(List<String> faults) {
        peers.forEach(ZMTPTestPeer::close);
        List<CompletableFuture<ZMTPStats>> ends = new ArrayList<>();
        sockets.forEach(watched -> ends.add(watched.close()));
        loop.advance(CLOSING_NANOS);
        for (int i = 0; i < ends.size(); i++) {
            if (!completes(ends.get(i))) { // a socket that the test has closed can linger
                faults.add(sockets.get(i).socket.socketType() + ": not closed");
            }
        }
    }

    VirtualLoop virtual() {
        return loop;
    }

    void add(ZMTPTestPeer peer) {
        checkOpen();
        peers.add(peer);
    }

    private void checkOpen() {
        checkThread();
        if (closed) {
            throw new IllegalStateException("loop: closed (expected: open)");
        }
    }

    private void checkThread() {
        if (!loop.inEventLoop()) {
            throw new IllegalStateException("thread: " + Thread.currentThread().getName()
                    + " (expected: the thread that has created the loop)");
        }
    }
}
