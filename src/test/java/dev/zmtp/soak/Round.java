package dev.zmtp.soak;

import dev.zmtp.shm.SharedMemoryAddress;
import io.netty.buffer.PoolArenaMetric;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Runs a server, proxies and peers for a while, and then checks what they leave behind. */
final class Round {

    /** How long everything may take to come to rest. */
    static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final long PROGRESS_MILLIS = 10_000;
    private static final long TICK_MILLIS = 100;

    private final Soak.Settings settings;
    private final Totals totals;
    private final Violations violations;
    private final int number;

    private final WatchedLoops serverLoops = new WatchedLoops("server", 2);
    private final WatchedLoops proxyLoops = new WatchedLoops("proxy", 1);
    private final WatchedLoops peerLoops = new WatchedLoops("peer", 2);

    /** Used by the server alone, so that its allocations can be counted to the byte. */
    private final PooledByteBufAllocator serverAlloc = new PooledByteBufAllocator(true);

    private final Map<Integer, Link> links = new ConcurrentHashMap<>();
    private final AtomicInteger memories = new AtomicInteger();
    private final AtomicInteger strangers = new AtomicInteger();
    /** Of the sockets at which shared memory begins. */
    private final Path directory;

    /** Memory that was shared before, which is somebody else's. */
    private final List<String> mappingsBefore;

    private final @Nullable Server server;
    private volatile boolean over;
    private long longestPause;

    /** A round of this number; rounds of a run differ in their plans. */
    Round(Soak.Settings settings, int number, Totals totals, Violations violations) throws IOException {
        this.directory = Files.createTempDirectory("soak");
        this.mappingsBefore = mappings();
        this.settings = settings;
        this.number = number;
        this.totals = totals;
        this.violations = violations;
        this.server = settings.role() == Soak.Role.PEERS
                ? null
                : new Server(
                        serverLoops,
                        serverAlloc,
                        settings.host(),
                        settings.port(),
                        Duration.ofSeconds(settings.heartbeat()),
                        settings.budget(),
                        this::linkOf,
                        totals,
                        settings.seed() + number);
    }

    /** Runs peers for {@code time}, or until there are enough violations; reports the seconds to {@code progress}. */
    void peers(Duration time, LongConsumer progress) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < settings.connections(); i++) {
            Implementation kind = settings.kinds().get(i % settings.kinds().size());
            Thread thread = new Thread(new Slot(this, i, kind), WatchedLoops.THREADS + "slot-" + i);
            threads.add(thread);
            thread.start();
        }
        long start = System.nanoTime();
        long shown = 0;
        long millis = 0;
        while (millis < time.toMillis() && !violations.isEnough()) {
            Thread.sleep(TICK_MILLIS);
            long now = Duration.ofNanos(System.nanoTime() - start).toMillis();
            longestPause = Math.max(longestPause, now - millis - TICK_MILLIS);
            millis = now;
            if (millis - shown >= PROGRESS_MILLIS) {
                shown = millis;
                progress.accept(millis / 1_000);
            }
        }
        over = true;
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Closes everything; what does not end is a violation. */
    void end() throws InterruptedException, IOException {
        if (server != null) {
            server.close();
        }
        for (WatchedLoops loops : List.of(serverLoops, peerLoops, proxyLoops)) {
            loops.leftovers(PATIENCE).forEach(left -> violations.add("left in the event loops: " + left));
            if (!loops.end()) {
                violations.add("event loops that do not end: " + loops);
            }
        }
        try (Stream<Path> sockets = Files.list(directory)) {
            sockets.forEach(socket -> violations.add("a socket that is still there: " + socket));
        }
        Files.deleteIfExists(directory);
        List<String> left = mappings();
        left.removeAll(mappingsBefore);
        left.forEach(mapping -> violations.add("memory that is still shared: " + mapping));
        long kept = settings.budget().used();
        if (kept != 0) {
            violations.add("memory still counted by the budget: " + kept);
        }
        long taken = activeAllocations();
        if (taken != 0) {
            violations.add("buffers still taken from the server's allocator: " + taken);
        }
    }

    static List<String> mappings() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("netty-zmtp-")).collect(Collectors.toCollection(ArrayList::new));
        }
    }

    /** Exact once the threads have ended, and with them what they cached. */
    private long activeAllocations() {
        List<PoolArenaMetric> arenas = new ArrayList<>(serverAlloc.metric().directArenas());
        arenas.addAll(serverAlloc.metric().heapArenas());
        return arenas.stream().mapToLong(PoolArenaMetric::numActiveAllocations).sum();
    }

    /** For how many milliseconds the machine had no time for us, at most: the sooner a timeout passes by itself. */
    long longestPause() {
        return longestPause;
    }

    /** Whether the server ends connections to keep within a budget. */
    boolean hasBudget() {
        return settings.budget().limit() < Long.MAX_VALUE;
    }

    boolean isOver() {
        return over || violations.isEnough();
    }

    long seed() {
        return settings.seed() + number;
    }

    Plan plan(int slot, int turn, Implementation kind) {
        Plan plan = Plan.draw(seed(), slot, turn, kind);
        // Only in one process can a peer learn that a server which sends nothing has got all.
        boolean canEnd = settings.role() == Soak.Role.BOTH
                || kind.isOurs()
                || plan.pattern().isDown();
        return canEnd ? plan : plan.with(Pattern.DEALER_ROUTER);
    }

    Totals totals() {
        return totals;
    }

    WatchedLoops peerLoops() {
        return peerLoops;
    }

    Link newLink(String name, Plan plan) {
        Link.Sight sight = settings.role() == Soak.Role.BOTH ? Link.Sight.WHOLE : Link.Sight.PEER;
        return new Link(number + "/" + name, plan, sight, totals, violations);
    }

    /** A server for {@code link} alone, which comes through shared memory. */
    Channel listenFor(Link link) {
        Path path = directory.resolve(Integer.toString(memories.incrementAndGet()));
        return Objects.requireNonNull(server).listen(new SharedMemoryAddress(path), link);
    }

    /** A proxy for the connections of {@code link}. */
    Proxy newProxy(Link link, long seed) {
        Pattern pattern = link.plan().pattern();
        int serverPort = server != null ? server.port(pattern) : settings.port() + pattern.port();
        InetSocketAddress address = new InetSocketAddress(settings.host(), serverPort);
        return new Proxy(
                proxyLoops,
                address,
                number -> link.plan().faults(number).stream().map(this::timed).toList(),
                fault -> {
                    totals.count("faults", "proxy, " + fault.kind());
                    if (fault.kind().isBreaking()) {
                        link.broke("proxy: " + fault);
                    } else {
                        link.note("proxy: " + fault);
                    }
                },
                port -> links.put(port, link),
                seed);
    }

    /** A silence must be longer than a heartbeat waits. */
    private ProxyFault timed(ProxyFault fault) {
        return fault.kind() == ProxyFault.Kind.SILENCE ? fault.lasting(settings.silenceMillis()) : fault;
    }

    private Link linkOf(InetSocketAddress address, Pattern pattern) {
        Link link = links.get(address.getPort());
        if (link != null) {
            return link;
        }
        int turn = strangers.incrementAndGet();
        // From another process; or of a link that was over before its connection was accepted.
        // The process of the peers knows what it does to a connection itself, and would wonder about more.
        Plan plan = Plan.draw(seed(), -1, turn, Implementation.ELSEWHERE)
                .with(pattern)
                .withGentleServer();
        return new Link("from " + address, plan, Link.Sight.CONNECTION, totals, violations);
    }

    void forget(Link link) {
        links.values().removeIf(link::equals);
    }

    void failed(String what, Throwable cause) {
        StringBuilder trace = new StringBuilder(what + ": " + cause);
        for (StackTraceElement element : cause.getStackTrace()) {
            trace.append("\n    ").append(element);
        }
        violations.add(trace.toString());
    }
}
