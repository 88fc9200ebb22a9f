package dev.zmtp.soak;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.socket.ZMTPStats;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoopGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** One end of a link: a socket of ours, which may be closed and replaced by another one, on the same endpoint. */
final class SocketEnd {

    /** What the messages of one socket became, if each has a future. */
    private enum Result {
        WRITTEN,
        UNKNOWN,
        ELSE,
        REFUSED
    }

    private final SocketLink link;
    private final ZMTPSocketType type;
    private final EventLoopGroup loops;
    private final Random random;
    private final boolean promised;
    private final SocketTally tally;
    private final Map<Result, AtomicLong> results = new ConcurrentHashMap<>();
    private final List<CompletableFuture<?>> requests = new ArrayList<>();

    private @Nullable ZMTPSocket socket;
    private String endpoint = "";
    private boolean binds;
    private long stream;
    private long next;
    private long taken;
    private long all;
    private boolean lost;

    /**
     * An end without a socket.
     *
     * @param promised whether each message has a future
     */
    SocketEnd(SocketLink link, ZMTPSocketType type, EventLoopGroup loops, Random random, boolean promised) {
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

    /** The messages that all of its sockets have taken. */
    long taken() {
        return all + taken;
    }

    /** Whether one of its sockets did not say of all messages that they were written. */
    boolean hasLost() {
        return lost;
    }

    @Override
    public String toString() {
        return type + ", taken " + taken() + ", arrived " + tally.count() + ", " + socket;
    }

    private void open() {
        stream = link.newStream();
        next = 0;
        taken = 0;
        results.clear();
        for (Result result : Result.values()) {
            results.put(result, new AtomicLong());
        }
        socket = ZMTPSocket.of(ZMTPSocketConfig.builder(type)
                .group(loops)
                .sendQueueLimit(50, 4 << 20)
                .receiveQueueLimit(50, 4 << 20)
                .reconnectDelay(Duration.ofMillis(10), Duration.ofMillis(200))
                .build());
        switch (type) {
            case ROUTER, REP -> socket.serve(request -> request.reply(request.message()));
            case PULL, PAIR, SUB -> socket.onMessage(tally::got);
            default -> {}
        }
        if (type == ZMTPSocketType.SUB) {
            socket.subscribe(Numbered.TOPIC);
        }
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

    /** Whether there was room for the next message of its stream. */
    boolean send() {
        ZMTPMessage message = new Numbered(stream, next, false).toMessage(ByteBufAllocator.DEFAULT, random);
        boolean asks = type == ZMTPSocketType.DEALER || type == ZMTPSocketType.REQ;
        if (asks && socket.isWritable()) {
            ask(message);
        } else if (!asks && promised && socket.isWritable()) {
            taken++;
            socket.sendAsync(message)
                    .whenComplete(
                            (nothing, failure) -> results.get(resultOf(failure)).incrementAndGet());
        } else if (!asks && !promised && socket.trySend(message)) {
            taken++;
        } else {
            message.release();
            return false;
        }
        next++;
        return true;
    }

    private static Result resultOf(@Nullable Throwable failure) {
        if (failure == null) {
            return Result.WRITTEN;
        }
        return switch (((ZMTPSocketException) failure).reason()) {
            case OUTCOME_UNKNOWN -> Result.UNKNOWN;
            case FULL -> Result.REFUSED;
            default -> Result.ELSE;
        };
    }

    private void ask(ZMTPMessage message) {
        long of = stream;
        long number = next;
        taken++;
        requests.add(socket.requestAsync(message, link.requestTimeout()).handle((answer, failure) -> {
            if (failure == null) {
                tally.answered(answer, of, number);
            } else {
                link.count("requests that failed", ((ZMTPSocketException) failure).reason());
            }
            return null;
        }));
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
    void restart() {
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
    void closeForSure() {
        if (socket != null) {
            await(socket.closeAsync(Duration.ZERO));
        }
    }

    /** Closes the socket, and checks that it knows what became of each message. */
    void close(Duration linger) {
        ZMTPStats report = await(socket.closeAsync(linger));
        awaitAnswers();
        long written = report.written();
        long unknown = report.outcomeUnknown();
        long dropped = report.dropped();
        if (report.queued() != 0 || report.queuedBytes() != 0) {
            link.wrong("still queued: " + report);
        }
        if (report.sent() != written + unknown + dropped) {
            link.wrong("the account of a " + type + " is open: " + report);
        }
        boolean counted = type == ZMTPSocketType.PUSH || type == ZMTPSocketType.PAIR;
        long refused = results.get(Result.REFUSED).get();
        if (counted && report.sent() != taken) {
            link.wrong(type + " has taken " + taken + " (expected: as many as it has sent, " + report + ")");
        }
        if (counted && promised) {
            checkResults(written, unknown, dropped);
        }
        if (counted && tallyOfTheOther() > written + unknown) {
            link.wrong("arrived: " + tallyOfTheOther() + " (expected: <= written " + written + " + unknown " + unknown
                    + ")");
        }
        link.count("messages", "written", written);
        link.count("messages", "unknown", unknown);
        link.count("messages", "dropped", dropped);
        lost |= unknown + dropped > 0;
        all += taken - refused;
        taken = 0;
    }

    private long tallyOfTheOther() {
        return link.otherThan(this) == null ? 0 : link.otherThan(this).tally.count(stream);
    }

    /** At the end of the socket the transport had some. They are unknown there, and their futures may know more. */
    private void checkResults(long written, long unknown, long dropped) {
        long succeeded = results.get(Result.WRITTEN).get();
        long uncertain = results.get(Result.UNKNOWN).get();
        long failed =
                results.get(Result.ELSE).get() + results.get(Result.REFUSED).get();
        if (succeeded + uncertain != written + unknown || succeeded < written || failed != dropped) {
            link.wrong("results: " + results + " of " + taken + " (expected: written " + written + ", unknown "
                    + unknown + ", dropped " + dropped + ")");
        }
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
