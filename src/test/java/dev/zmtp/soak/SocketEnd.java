package dev.zmtp.soak;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.socket.ZMTPStats;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** One end of a link: a socket of ours, which may be closed and replaced by another one, on the same endpoint. */
final class SocketEnd {

    private static final int MAX_BURST_THREADS = 3;
    private static final int MAX_BURST_MESSAGES = 30;
    private static final int MAX_TRIES = 1_000;

    /** A request in this many is cancelled. */
    private static final int CANCELS = 20;

    private final SocketLink link;
    private final ZMTPSocketType type;
    private final WatchedLoops loops;
    private final Random random;
    private final boolean promised;
    private final SocketTally tally;
    private final Queue<CompletableFuture<?>> requests = new ConcurrentLinkedQueue<>();
    private final List<Thread> bursts = new ArrayList<>();

    private @Nullable ZMTPSocket socket;
    private String endpoint = "";
    private boolean binds;
    private @Nullable WatchedLoops own;
    private @Nullable SocketReceiver receiver;
    private SentMessages sent = new SentMessages();
    private @Nullable SentStream stream;
    private long all;
    private boolean lost;

    /**
     * An end without a socket.
     *
     * @param promised whether each message has a future
     */
    SocketEnd(SocketLink link, ZMTPSocketType type, WatchedLoops loops, Random random, boolean promised) {
        this.link = link;
        this.type = type;
        this.loops = loops;
        this.random = random;
        this.promised = promised;
        this.tally = new SocketTally(link::wrong);
    }

    SocketTally tally() {
        return tally;
    }

    /** Returns the number of messages that all of its sockets have accepted. */
    long taken() {
        return all + sent.accepted();
    }

    /** Whether one of its sockets did not say of all messages that they were written. */
    boolean hasLost() {
        return lost;
    }

    @Override
    public String toString() {
        return type + ", accepted " + taken() + ", arrived " + tally.count() + ", " + socket + ", " + socket.stats();
    }

    private void open() {
        sent = new SentMessages();
        stream = newStream();
        if (!link.isInPeace() && random.nextInt(4) == 0) {
            own = loops.another("own");
        }
        ZMTPSocketConfig.Builder config = ZMTPSocketConfig.builder(type);
        (own == null ? loops : own).configure(config);
        socket = ZMTPSocket.of(config.codec(codec -> codec.memoryBudget(link.budget()))
                .sendQueueLimit(50, 4 << 20)
                .receiveQueueLimit(50, 4 << 20)
                .reconnectDelay(Duration.ofMillis(10), Duration.ofMillis(200))
                .build());
        switch (type) {
            case ROUTER, REP -> socket.serve(request -> request.reply(request.message()));
            case PULL, PAIR, SUB -> receiver = new SocketReceiver(socket, tally, random);
            default -> {}
        }
        if (type == ZMTPSocketType.SUB) {
            socket.subscribe(Numbered.TOPIC);
        }
    }

    private SentStream newStream() {
        return new SentStream(link.newStream(), sent, link.allocator(), new Random(random.nextLong()));
    }

    /** Returns what may be connected to. */
    String bind(String where) {
        open();
        binds = true;
        endpoint = await(socket.bind(where).readyFuture()).text();
        return endpoint;
    }

    void connect(String where) {
        open();
        endpoint = where;
        socket.connect(where);
    }

    /** Waits until there is somebody to send to. */
    void awaitSubscriber() {
        if (type == ZMTPSocketType.PUB) {
            await(socket.whenPeers(1));
        }
    }

    // What happens to it

    /** Sends the next message of its stream, or returns false if there is no room. */
    boolean send() {
        return send(socket, stream);
    }

    private boolean send(ZMTPSocket by, SentStream next) {
        if (asks()) {
            return by.isWritable() && ask(by, next);
        }
        return promised
                ? next.sendWithFuture(by)
                : next.send(by, link.isInPeace() ? SentStream.TELLING : SentStream.ALL);
    }

    private boolean asks() {
        return type == ZMTPSocketType.DEALER || type == ZMTPSocketType.REQ;
    }

    private boolean ask(ZMTPSocket by, SentStream of) {
        ZMTPMessage message = of.next();
        long number = of.lastNumber();
        SentMessages counted = sent;
        counted.asked();
        CompletableFuture<ZMTPMessage> answer = by.requestAsync(message, link.requestTimeout());
        requests.add(answer.handle((reply, failure) -> {
            if (failure == null) {
                tally.answered(reply, of.stream(), number);
            } else if (failure instanceof CancellationException) {
                link.count("requests that failed", "cancelled");
            } else {
                ZMTPSocketException.Reason reason = ((ZMTPSocketException) failure).reason();
                link.count("requests that failed", reason);
                if (reason == ZMTPSocketException.Reason.FULL) {
                    counted.askRefused();
                }
            }
            return null;
        }));
        if (!link.isInPeace() && number % CANCELS == CANCELS - 1) {
            answer.cancel(false);
        }
        return true;
    }

    /** Sends from several threads, which go on while other things happen. */
    void burst() {
        int threads = 1 + random.nextInt(MAX_BURST_THREADS);
        for (int i = 0; i < threads; i++) {
            ZMTPSocket by = socket;
            SentStream own = newStream();
            int messages = 1 + random.nextInt(MAX_BURST_MESSAGES);
            Thread thread = new Thread(() -> sendAll(by, own, messages), WatchedLoops.THREADS + "burst");
            bursts.add(thread);
            thread.start();
        }
    }

    private void sendAll(ZMTPSocket by, SentStream own, int messages) {
        int tries = 0;
        for (int i = 0; i < messages && tries < MAX_TRIES; tries++) {
            if (send(by, own)) {
                i++;
            } else {
                LockSupport.parkNanos(SocketLink.PAUSE_NANOS);
            }
        }
    }

    /** Waits for the threads of its bursts. */
    void awaitBursts() throws InterruptedException {
        for (Thread thread : bursts) {
            thread.join();
        }
        bursts.clear();
    }

    /** Ends its event loop at once, if it has one for itself, and opens another socket. */
    boolean endLoop() throws InterruptedException {
        if (own == null) {
            return false;
        }
        own.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        restart();
        return true;
    }

    /** Ends one of the connections. */
    void kill() {
        pick(socket.peers()).ifPresent(ZMTPPeer::close);
    }

    /** Reads nothing from one peer until the result runs. */
    Runnable stop() {
        ZMTPPeer peer = pick(socket.peers()).orElse(null);
        if (peer == null) {
            return () -> {};
        }
        peer.pauseReading();
        return peer::resumeReading;
    }

    private Optional<ZMTPPeer> pick(Collection<ZMTPPeer> now) {
        List<ZMTPPeer> from = List.copyOf(now);
        return from.isEmpty() ? Optional.empty() : Optional.of(from.get(random.nextInt(from.size())));
    }

    /** Closes the socket at once, and opens another one in its place. */
    void restart() throws InterruptedException {
        close(Duration.ZERO);
        if (binds) {
            bind(endpoint);
        } else {
            connect(endpoint);
        }
    }

    /** Waits until all requests have an end. */
    void awaitAnswers() {
        requests.forEach(SocketEnd::await);
        requests.clear();
    }

    /** Whether a connection is there. */
    boolean isUp() {
        return !socket.peers().isEmpty();
    }

    // The end

    /** After a failure, too, nothing may be left. */
    void closeForSure() throws InterruptedException {
        if (socket != null) {
            await(socket.closeAsync(Duration.ZERO));
            awaitThreads();
        }
    }

    private void awaitThreads() throws InterruptedException {
        awaitBursts();
        if (receiver != null) {
            receiver.join();
        }
        if (own != null && !own.end()) {
            link.wrong("an event loop that does not end: " + own);
        }
        receiver = null;
        own = null;
    }

    /** A thread can have sent a message after the close, which the event loop is about to fail. */
    private ZMTPStats atRest() throws InterruptedException {
        ZMTPStats report = socket.stats();
        for (int i = 0; i < 500 && report.queued() != 0; i++) {
            Thread.sleep(10);
            report = socket.stats();
        }
        return report;
    }

    /** Closes the socket, and checks that it knows what became of each message. */
    void close(Duration linger) throws InterruptedException {
        await(socket.closeAsync(linger));
        awaitThreads();
        awaitAnswers();
        ZMTPStats report = atRest();
        long written = report.written();
        long unknown = report.outcomeUnknown();
        long dropped = report.dropped();
        if (report.queued() != 0 || report.queuedBytes() != 0) {
            link.wrong("still queued: " + report);
        }
        if (report.sent() != written + unknown + dropped) {
            link.wrong("the account of a " + type + " is open: " + report);
        }
        if (type == ZMTPSocketType.PUSH || type == ZMTPSocketType.PAIR) {
            SocketEnd other = link.otherThan(this);
            sent.check(report, of -> other == null ? 0 : other.tally.count(of), link::wrong);
        }
        link.count("messages", "written", written);
        link.count("messages", "unknown", unknown);
        link.count("messages", "dropped", dropped);
        lost |= sent.lost(report) > 0;
        all += sent.accepted();
        sent = new SentMessages();
    }

    static <T> T await(CompletableFuture<T> future) {
        try {
            return future.get(2 * Round.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException | TimeoutException e) {
            throw new CompletionException("future: " + future + " (expected: complete)", e);
        } catch (ExecutionException e) {
            throw new CompletionException(e.getCause());
        }
    }
}
