package dev.zmtp.soak;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.interop.PeerContext;
import dev.zmtp.interop.PeerSocket;
import dev.zmtp.testing.OwnHost;
import io.netty.buffer.ByteBufAllocator;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A conversation of two sockets, over any transport, while connections are killed, peers are not read from, and sockets
 * are replaced. One in four is left in peace, and there all messages must arrive.
 */
final class SocketLink {

    /** Which sockets talk. */
    enum Pattern {
        /** Work. */
        PUSH_PULL(ZMTPSocketType.PUSH, ZMTPSocketType.PULL, false),
        /** Both ways. */
        PAIR_PAIR(ZMTPSocketType.PAIR, ZMTPSocketType.PAIR, true),
        /** Requests. */
        DEALER_ROUTER(ZMTPSocketType.DEALER, ZMTPSocketType.ROUTER, false),
        /** Requests, too. */
        REQ_REP(ZMTPSocketType.REQ, ZMTPSocketType.REP, false),
        /** News. */
        PUB_SUB(ZMTPSocketType.PUB, ZMTPSocketType.SUB, false);

        final ZMTPSocketType sender;
        final ZMTPSocketType receiver;
        final boolean bothWays;

        Pattern(ZMTPSocketType sender, ZMTPSocketType receiver, boolean bothWays) {
            this.sender = sender;
            this.receiver = receiver;
            this.bothWays = bothWays;
        }
    }

    /** How they reach each other. */
    enum Transport {
        /** Through a proxy that cuts connections. */
        TCP,
        /** Unix domain sockets. */
        IPC,
        /** Within the process. */
        INPROC,
        /** Shared memory. */
        SHM
    }

    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(4);

    /** Where sockets are bound, again and again. */
    private static final String HOST = OwnHost.of(4);

    private static final int MOST_MESSAGES = 600;
    private static final int MOST_BROKEN_CONNECTIONS = 8;
    private static final Duration LINGER = Duration.ofSeconds(20);
    private static final Duration LINGER_ALONE = Duration.ofSeconds(2);
    static final long PAUSE_NANOS = 200_000;

    private final SocketSoak.SocketRound round;
    private final String name;
    private final Random random;
    private final Pattern pattern;
    private final Transport transport;
    private final boolean clean;
    private final @Nullable Implementation foreign;
    private final Deque<String> history = new ArrayDeque<>();
    private final Deque<Runnable> stopped = new ArrayDeque<>();

    private @Nullable SocketEnd sender;
    private @Nullable SocketEnd receiver;
    private @Nullable Proxy proxy;

    /** A link that a random number decides all of. */
    SocketLink(SocketSoak.SocketRound round, String name, Random random, @Nullable Implementation foreign) {
        this.round = round;
        this.name = name;
        this.random = random;
        this.foreign = foreign;
        this.pattern = foreign != null ? Pattern.PUSH_PULL : Pattern.values()[random.nextInt(Pattern.values().length)];
        this.transport = foreign != null
                ? Transport.TCP
                : round.transports().get(random.nextInt(round.transports().size()));
        this.clean = random.nextInt(4) == 0;
        note("planned: " + pattern + " over " + transport + (clean ? ", in peace" : "") + ", foreign: " + foreign);
    }

    // For its ends

    long newStream() {
        return round.newStream();
    }

    void wrong(String what) {
        List<String> events;
        synchronized (history) {
            events = List.copyOf(history);
        }
        round.violations().add(what, "link " + name, events);
    }

    boolean isInPeace() {
        return clean;
    }

    ZMTPMemoryBudget budget() {
        return round.budget();
    }

    /** Returns the allocator of all messages that are sent. */
    ByteBufAllocator allocator() {
        return round.allocator();
    }

    /** In peace an answer comes, however long a peer is not read from on a busy machine. */
    Duration requestTimeout() {
        return clean ? Round.PATIENCE : REQUEST_TIMEOUT;
    }

    void count(String topic, Object kind) {
        round.totals().count(topic, kind);
    }

    void count(String topic, Object kind, long count) {
        round.totals().add(topic, kind, count);
    }

    @Nullable
    SocketEnd otherThan(SocketEnd end) {
        return end == sender ? receiver : sender;
    }

    private void note(String event) {
        synchronized (history) {
            history.add(event);
            if (history.size() > 60) {
                history.remove();
            }
        }
    }

    // The conversation

    /** Runs it to its end. */
    void run() throws InterruptedException {
        try {
            if (foreign == null) {
                converse();
            } else {
                converseWith(foreign);
            }
            count(
                    "links",
                    (foreign == null ? "ours" : foreign) + " " + pattern + " " + transport
                            + (clean ? ", in peace" : ""));
        } finally {
            for (SocketEnd end : new SocketEnd[] {sender, receiver}) {
                if (end != null) {
                    end.closeForSure();
                }
            }
            if (proxy != null) {
                proxy.close();
            }
        }
    }

    private void converse() throws InterruptedException {
        boolean promised = random.nextBoolean();
        SocketEnd from = new SocketEnd(this, pattern.sender, round.loops(), random, promised);
        SocketEnd to = new SocketEnd(this, pattern.receiver, round.loops(), random, promised);
        sender = from;
        receiver = to;
        boolean senderBinds = random.nextBoolean();
        SocketEnd binder = senderBinds ? from : to;
        SocketEnd connector = senderBinds ? to : from;
        connector.connect(through(binder.bind(place())));
        from.awaitSubscriber();
        exchange(from, to);
        while (!stopped.isEmpty()) {
            stopped.remove().run();
        }
        from.awaitBursts();
        to.awaitBursts();
        from.awaitAnswers();
        if (clean && pattern != Pattern.DEALER_ROUTER && pattern != Pattern.REQ_REP && pattern != Pattern.PUB_SUB) {
            expect("all arrive at the receiver", () -> to.tally().count() >= from.taken());
            expect("all arrive at the sender", () -> from.tally().count() >= to.taken());
        }
        long closing = System.nanoTime();
        from.close(LINGER);
        if (System.nanoTime() - closing > LINGER.toNanos() / 2) {
            count(
                    "closes that needed more than half of their linger",
                    pattern + " " + transport + (clean ? ", in peace" : "")
                            + (senderBinds ? ", the sender binds" : ""));
        }
        expect("the connections of the receiver end", () -> !to.isUp());
        to.close(clean ? LINGER : LINGER_ALONE); // what it may have queued for the other is for nobody
        checkAll(from, to);
    }

    private void checkAll(SocketEnd from, SocketEnd to) {
        count("messages", "sent", from.taken() + to.taken());
        count("messages", "received", from.tally().count() + to.tally().count());
        if (clean) {
            boolean asks = from.tally().count() > 0 && !pattern.bothWays;
            long arrived = asks ? from.tally().count() : to.tally().count();
            boolean drops = pattern == Pattern.PUB_SUB;
            if (drops ? arrived > from.taken() : arrived != from.taken()) {
                wrong("arrived in peace: " + arrived + " (expected: " + from.taken() + ")");
            }
            if (from.hasLost() && !drops) {
                wrong("lost in peace: some of " + from.taken());
            }
        }
    }

    private void exchange(SocketEnd from, SocketEnd to) throws InterruptedException {
        int messages = 20 + random.nextInt(MOST_MESSAGES);
        long deadline = System.nanoTime() + Duration.ofSeconds(10).toNanos();
        for (int i = 0; i < messages && !round.isOver(); i++) {
            send(from, deadline);
            if (pattern.bothWays) {
                send(to, deadline);
            }
            int dice = random.nextInt(1_000);
            if (dice < 8) {
                SocketEnd end = random.nextBoolean() ? from : to;
                note("stop");
                count("faults", "a peer is not read from");
                stopped.add(end.stop());
            } else if (dice < 16 && !stopped.isEmpty()) {
                stopped.remove().run();
            } else if (dice < 24 && !clean) {
                note("kill");
                count("faults", "a connection is killed");
                (random.nextBoolean() ? from : to).kill();
            } else if (dice < 28 && !clean) {
                SocketEnd end = random.nextBoolean() ? from : to;
                note(end == from ? "restart of the sender" : "restart of the receiver");
                count("faults", "a socket is replaced");
                end.restart();
            } else if (dice < 32 && !clean) {
                SocketEnd end = random.nextBoolean() ? from : to;
                if (end.endLoop()) {
                    note(end == from ? "end of the loop of the sender" : "end of the loop of the receiver");
                    count("faults", "an event loop ends at once");
                }
            } else if (dice < 36) {
                note("burst");
                count("bursts", pattern);
                (pattern.bothWays && random.nextBoolean() ? to : from).burst();
            }
        }
    }

    private void send(SocketEnd end, long deadline) {
        for (int tries = 0; !end.send(); tries++) {
            if (System.nanoTime() - deadline > 0) {
                note("no room for " + end);
                return;
            }
            if (tries > 50 && !stopped.isEmpty()) {
                stopped.remove().run();
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private void expect(String what, BooleanSupplier holds) throws InterruptedException {
        long deadline = System.nanoTime() + Round.PATIENCE.toNanos();
        while (!holds.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                wrong("not within " + Round.PATIENCE + ": " + what + ", " + sender + ", " + receiver);
                return;
            }
            Thread.sleep(1);
        }
    }

    // Places

    private String place() {
        return switch (transport) {
            case TCP -> "tcp://" + HOST + ":*";
            case IPC -> "ipc://" + round.directory().resolve("i" + newStream());
            case INPROC -> "inproc://soak-" + newStream();
            case SHM -> "shm://" + round.directory().resolve("s" + newStream());
        };
    }

    private String through(String endpoint) {
        if (transport != Transport.TCP) {
            return endpoint;
        }
        int port = Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
        Proxy made = new Proxy(
                round.proxyLoops(),
                new InetSocketAddress(HOST, port),
                this::faults,
                fault -> {
                    note("proxy: " + fault);
                    count("faults", "proxy, " + fault.kind());
                },
                local -> {},
                random.nextLong());
        proxy = made;
        return "tcp://127.0.0.1:" + made.port();
    }

    private List<ProxyFault> faults(int connection) {
        Random dice = new Random(name.hashCode() * 31L + connection);
        List<ProxyFault> faults = new ArrayList<>();
        if (dice.nextInt(3) == 0) {
            faults.add(ProxyFault.gentle(dice));
        }
        if (!clean && connection < MOST_BROKEN_CONNECTIONS) {
            Stream.generate(() -> ProxyFault.breaking(dice))
                    .filter(fault -> fault.kind() != ProxyFault.Kind.SILENCE)
                    .findFirst()
                    .ifPresent(faults::add);
        }
        return faults;
    }

    // Others

    /** One of our sockets, and one of another implementation, which connects. */
    private void converseWith(Implementation kind) throws InterruptedException {
        boolean weSend = random.nextBoolean();
        SocketEnd ours = new SocketEnd(
                this, weSend ? ZMTPSocketType.PUSH : ZMTPSocketType.PULL, round.loops(), random, random.nextBoolean());
        sender = ours;
        int port = Integer.parseInt(through(ours.bind(place())).replaceAll(".*:", ""));
        SocketTally theirs = new SocketTally(this::wrong);
        try (PeerContext context = kind.foreign().open()) {
            PeerSocket peer = context.socket(weSend ? ZMTPSocketType.PULL : ZMTPSocketType.PUSH);
            // If a connection breaks while a queue is full, libzmq 4.3.4 aborts the process, by an assertion of its
            // own.
            int queue = kind == Implementation.LIBZMQ ? 0 : 50;
            peer.queues(queue, weSend ? 0 : queue);
            peer.handshakeInterval(Duration.ofSeconds(2));
            peer.connect(port);
            if (weSend) {
                sendTo(peer, ours, theirs);
            } else {
                receiveFrom(peer, kind, ours);
            }
        }
        expect("the connections of our socket end", () -> !ours.isUp());
        ours.close(Duration.ZERO);
        count("messages", "sent", ours.taken());
        count("messages", "received", theirs.count() + ours.tally().count());
    }

    private void sendTo(PeerSocket peer, SocketEnd ours, SocketTally theirs) throws InterruptedException {
        int messages = 20 + random.nextInt(MOST_MESSAGES);
        long deadline = System.nanoTime() + Duration.ofSeconds(10).toNanos();
        for (int i = 0; i < messages && System.nanoTime() - deadline < 0; ) {
            if (ours.send()) {
                i++;
            } else {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
            if (!clean && random.nextInt(500) == 0) {
                count("faults", "a connection is killed");
                ours.kill();
            }
            drain(peer, theirs, i % 8 == 0 ? Duration.ofMillis(1) : Duration.ZERO);
        }
        if (clean) {
            expect("all arrive at the other implementation", () -> {
                drain(peer, theirs, Duration.ofMillis(10));
                return theirs.count() >= ours.taken();
            });
        } else {
            drain(peer, theirs, Duration.ofMillis(100));
        }
    }

    /** Those of several connections may overtake each other, and nobody says which one a message came through. */
    private static void drain(PeerSocket peer, SocketTally theirs, Duration wait) {
        for (ZMTPMessage next = peer.receive(wait); next != null; next = peer.receive(Duration.ZERO)) {
            theirs.got(next);
        }
    }

    private void receiveFrom(PeerSocket peer, Implementation kind, SocketEnd ours) throws InterruptedException {
        int messages = 20 + random.nextInt(MOST_MESSAGES);
        long stream = newStream();
        long sent = 0;
        long deadline = System.nanoTime() + Duration.ofSeconds(10).toNanos();
        while (sent < messages && System.nanoTime() - deadline < 0) {
            // With assertions on, JeroMQ fails if a connection ends between two frames that it sends.
            Numbered numbered = new Numbered(stream, sent, false);
            ZMTPMessage message = kind == Implementation.JEROMQ
                    ? numbered.toMessage(allocator(), random, random.nextInt(20_000))
                    : numbered.toMessage(allocator(), random);
            if (peer.send(message, Duration.ofMillis(5))) {
                sent++;
            }
            message.release();
            if (!clean && random.nextInt(500) == 0) {
                count("faults", "a connection is killed");
                ours.kill();
            }
        }
        count("messages", "sent", sent);
        if (clean) {
            long all = sent;
            expect("all of the other implementation arrive", () -> ours.tally().count() >= all);
        }
    }
}
