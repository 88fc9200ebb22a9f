package dev.zmtp.attack;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;

/**
 * Thousands of sockets on one thread, each of which does as its {@link Behavior} says. An attacker whose connection has
 * ended, whoever ended it, connects again.
 */
final class Attackers implements AutoCloseable {

    private static final int MAX_CONNECTING = 64;

    private static final int SELECT_MILLIS = 5;

    /** How long one that pauses pauses at least. */
    private static final long PAUSE_NANOS = 2_000_000;

    private static final int READ = 1 << 18;

    /** The receive buffer of one that never reads: what it does not take stays with the server. */
    private static final int SMALL_BUFFER = 4096;

    /** Bytes of a greeting. */
    private static final int GREETING = 64;

    private static final int HOSTS = 250;

    private final InetSocketAddress server;
    private final Thread thread = new Thread(this::run, "attackers");
    private final ByteBuffer received = ByteBuffer.allocateDirect(READ);
    private final Queue<Attacker> waiting = new ArrayDeque<>();
    private final Queue<Attacker> returning = new ArrayDeque<>();
    private final Queue<Attacker> held = new ArrayDeque<>();
    private final List<Attacker> all = new ArrayList<>();
    private final Selector selector;

    private CountDownLatch toMount = new CountDownLatch(0);
    private int returnsPerSecond = 1_000;
    private int connecting;
    private int mostConnected;
    private int connected;
    private long connections;
    private long cut;
    private long sent;
    private volatile boolean areAllThere;
    private volatile boolean stopped;

    /**
     * What they did.
     *
     * @param most the most connections at one time
     * @param connections how many there were
     * @param cut how many of them the server ended
     * @param sent the bytes that were sent
     */
    record Count(int most, long connections, long cut, long sent) {}

    Attackers(InetSocketAddress server) throws IOException {
        this.server = server;
        selector = Selector.open();
    }

    /** How often in a second a connection that has ended is made again; 1,000 by default. */
    void returnsPerSecond(int value) {
        returnsPerSecond = value;
    }

    /** Adds attackers that behave so; {@code host} says which of many addresses the one with this number has. */
    void add(int count, IntUnaryOperator host, Behavior behavior) {
        for (int i = 0; i < count; i++) {
            Attacker attacker = new Attacker(address(host.applyAsInt(i)), behavior);
            all.add(attacker);
            waiting.add(attacker);
        }
    }

    /** Linux answers to the whole of 127.0.0.0/8. */
    private static InetAddress address(int host) {
        try {
            return InetAddress.getByAddress(new byte[] {127, 0, (byte) (1 + host / HOSTS), (byte) (1 + host % HOSTS)});
        } catch (UnknownHostException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Begins, and waits until each has sent what it sends once, or was cut, but no longer than this. Those that send it
     * together begin then.
     */
    void start(Duration patience) throws InterruptedException {
        toMount = new CountDownLatch(all.size());
        thread.start();
        toMount.await(patience.toMillis(), TimeUnit.MILLISECONDS);
        areAllThere = true;
    }

    /** Closes all connections, and returns what was done with them. */
    Count stop() throws InterruptedException {
        stopped = true;
        selector.wakeup();
        thread.join();
        return new Count(mostConnected, connections, cut, sent);
    }

    @Override
    public void close() throws IOException {
        stopped = true;
        if (thread.isAlive()) {
            selector.wakeup(); // the thread closes it
        } else {
            selector.close();
        }
    }

    private void run() {
        long last = System.nanoTime();
        long lastResumed = last;
        double mayReturn = 0;
        try {
            while (!stopped) {
                long now = System.nanoTime();
                mayReturn += (double) returnsPerSecond * (now - last) / TimeUnit.SECONDS.toNanos(1);
                last = now;
                for (; mayReturn >= 1 && !returning.isEmpty(); mayReturn--) {
                    waiting.add(returning.remove());
                }
                mayReturn = Math.min(mayReturn, 1);
                while (connecting < MAX_CONNECTING && !waiting.isEmpty()) {
                    waiting.remove().connect();
                }
                if (now - lastResumed > PAUSE_NANOS) {
                    lastResumed = now;
                    for (int i = held.size(); i > 0; i--) {
                        held.remove().resume();
                    }
                }
                selector.select(key -> ((Attacker) key.attachment()).ready(key), SELECT_MILLIS);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            all.forEach(Attacker::closeQuietly);
            reallyClose();
        }
    }

    /** A closed channel keeps its socket until its selector has noticed, which a selector does at its own end. */
    private void reallyClose() {
        try {
            selector.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** One that attacks, with at most one connection at a time. */
    private final class Attacker {
        private final InetAddress source;
        private final Behavior behavior;
        private SocketChannel channel;
        private boolean isConnected;
        private boolean isMounted;
        private boolean isHeld;
        private ByteBuffer opening;
        private ByteBuffer once;
        private ByteBuffer again;
        private long answered;

        Attacker(InetAddress source, Behavior behavior) {
            this.source = source;
            this.behavior = behavior;
        }

        private void connect() {
            connecting++;
            isConnected = false;
            isHeld = false;
            answered = 0;
            opening = behavior.opening().duplicate();
            once = behavior.once().duplicate();
            again = behavior.again().duplicate();
            try {
                channel = SocketChannel.open();
                channel.configureBlocking(false);
                if (!behavior.isReading()) {
                    channel.setOption(StandardSocketOptions.SO_RCVBUF, SMALL_BUFFER);
                }
                channel.bind(new InetSocketAddress(source, 0));
                SelectionKey key = channel.register(selector, SelectionKey.OP_CONNECT, this);
                if (channel.connect(server)) {
                    connected();
                    goOn(key);
                }
            } catch (IOException e) {
                ended(true);
            }
        }

        private void connected() {
            isConnected = true;
            connecting--;
            connections++;
            connected++;
            mostConnected = Math.max(mostConnected, connected);
        }

        private void ready(SelectionKey key) {
            try {
                if (key.isConnectable() && channel.finishConnect()) {
                    connected();
                }
                if (key.isReadable() && !read()) {
                    ended(behavior.ending() != Behavior.Ending.HALF_CLOSE);
                    return;
                }
                if (key.isWritable()) {
                    write();
                }
                goOn(key);
            } catch (IOException e) {
                ended(true);
            }
        }

        /** Reads what there is; returns false at the end. */
        private boolean read() throws IOException {
            received.clear();
            int read = channel.read(received);
            answered += Math.max(read, 0);
            return read >= 0;
        }

        private void write() throws IOException {
            if (opening.hasRemaining()) {
                sent += channel.write(opening);
            } else if (once.hasRemaining()) {
                sent += channel.write(once);
            } else {
                if (!again.hasRemaining()) {
                    again.rewind();
                }
                sent += channel.write(again);
                if (behavior.timing() == Behavior.Timing.PAUSING && !again.hasRemaining()) {
                    hold();
                }
            }
        }

        private void hold() {
            isHeld = true;
            held.add(this);
        }

        private void resume() {
            if (!isHeld) {
                return; // this is another connection than the one that was held
            }
            isHeld = false;
            try {
                goOn(channel.keyFor(selector));
            } catch (IOException e) {
                ended(true);
            }
        }

        private void goOn(SelectionKey key) throws IOException {
            if (isEarly()) {
                mounted();
                hold();
            }
            if (opening.hasRemaining() || once.hasRemaining()) {
                showInterest(key);
                return;
            }
            mounted();
            if (behavior.ending() != Behavior.Ending.STAY && answered >= behavior.answer()) {
                leave(key);
            } else {
                showInterest(key);
            }
        }

        /** Whether it has only to wait for the others. */
        private boolean isEarly() {
            return behavior.timing() == Behavior.Timing.TOGETHER
                    && !areAllThere
                    && !isHeld
                    && !opening.hasRemaining()
                    && !awaitsReady();
        }

        private boolean awaitsReady() {
            return behavior.isTalking() && answered <= GREETING;
        }

        private void showInterest(SelectionKey key) {
            boolean awaitsReady = awaitsReady();
            boolean hasMore = once.hasRemaining() || again.limit() > 0;
            boolean sends = opening.hasRemaining() || (hasMore && !awaitsReady && !isHeld);
            boolean reads = behavior.isReading() || awaitsReady;
            key.interestOps((reads ? SelectionKey.OP_READ : 0) | (sends ? SelectionKey.OP_WRITE : 0));
        }

        private void leave(SelectionKey key) throws IOException {
            if (behavior.ending() == Behavior.Ending.HALF_CLOSE) {
                channel.shutdownOutput();
                key.interestOps(SelectionKey.OP_READ);
                return;
            }
            if (behavior.ending() == Behavior.Ending.RESET) {
                channel.setOption(StandardSocketOptions.SO_LINGER, 0);
            }
            ended(false);
        }

        private void mounted() {
            if (!isMounted) {
                isMounted = true;
                toMount.countDown();
            }
        }

        private void ended(boolean byServer) {
            mounted();
            isHeld = false;
            if (isConnected) {
                connected--;
                cut += byServer ? 1 : 0;
            } else {
                connecting--;
            }
            closeQuietly();
            returning.add(this);
        }

        private void closeQuietly() {
            try {
                if (channel != null) {
                    channel.close();
                }
            } catch (IOException e) {
                // There is nothing to save.
            }
        }
    }
}
