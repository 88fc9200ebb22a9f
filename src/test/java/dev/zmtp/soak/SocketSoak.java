package dev.zmtp.soak;

import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.interop.PeerKind;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Our sockets talk to each other, to JeroMQ and to libzmq, while connections are killed, peers are stopped, and sockets
 * are replaced. Every message is checked, and so is what each socket says of its messages.
 *
 * <p>Run it with {@code mvn -q test-compile exec:exec@socket-soak}, and options in {@code -Dsoak.args="--minutes 30"}.
 */
@Command(
        name = "socket-soak",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Sockets under kills, stops and restarts; checks each message and all counters.")
public final class SocketSoak implements Callable<Integer> {

    private static final double MEGA = 1 << 20;
    private static final long PROGRESS_SECONDS = 10;
    private static final int DESCRIPTOR_TOLERANCE = 8;

    @Spec
    private CommandSpec spec;

    @Option(names = "--minutes", paramLabel = "N", defaultValue = "1", description = "Time to run, 0.1 to 10000 (1).")
    private double minutes;

    @Option(names = "--seed", paramLabel = "N", description = "Repeats the plans of another run (a new one each time).")
    private @Nullable Long seed;

    @Option(names = "--links", paramLabel = "N", defaultValue = "16", description = "At a time, 1 to 200 (16).")
    private int links;

    @Option(
            names = "--transports",
            paramLabel = "T",
            split = ",",
            defaultValue = "TCP,IPC,INPROC,SHM",
            description = "How our sockets reach each other (all: TCP,IPC,INPROC,SHM).")
    private List<SocketLink.Transport> transports;

    @Option(names = "--loops", paramLabel = "L", defaultValue = "NIO", description = "NIO or EPOLL (NIO).")
    private IoTransport loopTransport;

    @Option(
            names = "--foreign",
            paramLabel = "I",
            split = ",",
            defaultValue = "JEROMQ,LIBZMQ",
            description = "Whose sockets are at the other end of some links; NETTY_ZMTP for none"
                    + " (JEROMQ,LIBZMQ, if libzmq is there).")
    private List<Implementation> foreign;

    /** Runs the soak; the exit code is 0, or 1 if something was wrong, or 2 after wrong arguments. */
    public static void main(String... args) {
        System.exit(commandLine().execute(args));
    }

    /** The soak as a command. */
    static CommandLine commandLine() {
        return new CommandLine(new SocketSoak());
    }

    @Override
    public Integer call() throws Exception {
        check("--minutes", minutes, 0.1, 10_000);
        check("--links", links, 1, 200);
        long chosen = seed == null ? ThreadLocalRandom.current().nextInt(1 << 30) : seed;
        PrintWriter out = spec.commandLine().getOut();
        Totals totals = new Totals();
        Violations violations = new Violations(out, chosen);
        Duration all = Duration.ofMillis((long) (minutes * 60_000));
        Duration first = all.dividedBy(6);
        print("soak of sockets, %.2f minutes, seed %d, %d links at a time", minutes, chosen, links);
        new SocketRound(chosen, totals, violations).run(first);
        long heap = Leftovers.heap();
        long descriptors = descriptors();
        new SocketRound(chosen + 1, totals, violations).run(all.minus(first));
        look("heap", heap, Leftovers.heap(), Leftovers.HEAP_TOLERANCE, violations);
        look("descriptors", descriptors, descriptors(), DESCRIPTOR_TOLERANCE, violations);
        totals.print(out);
        boolean passed = violations.found().isEmpty();
        print("seed %d, violations: %d", chosen, violations.found().size());
        violations.found().forEach(found -> print("  %s", found));
        print(
                "soak %s: %,d messages received on %,d links",
                passed ? "passed" : "FAILED", totals.sum("messages", "received"), totals.sum("links"));
        return passed ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }

    private void look(String what, long before, long after, long tolerance, Violations violations) {
        print("%s after the first round %,d, at the end %,d", what, before, after);
        if (after - before > tolerance) {
            violations.add(what + ": " + after + " (expected: <= " + before + " + " + tolerance + ")");
        }
    }

    private static long descriptors() throws IOException {
        Path own = Path.of("/proc/self/fd");
        if (!Files.isDirectory(own)) {
            return 0;
        }
        try (Stream<Path> open = Files.list(own)) {
            return open.count();
        }
    }

    private void check(String option, double value, double least, double most) {
        if (value < least || value > most) {
            throw new ParameterException(
                    spec.commandLine(), option + ": " + value + " (expected: " + least + " to " + most + ")");
        }
    }

    private void print(String format, Object... values) {
        PrintWriter out = spec.commandLine().getOut();
        out.printf(Locale.ROOT, format + "%n", values);
        out.flush();
    }

    /** Links, one after the other in each of some threads, and what they leave behind. */
    final class SocketRound {
        private final Leftovers leftovers = new Leftovers();
        private final WatchedLoops loops = new WatchedLoops("socket", 2, loopTransport);
        private final WatchedLoops proxyLoops = new WatchedLoops("proxy", 1);
        private final Path directory = Files.createTempDirectory("soak");
        private final List<String> mappingsBefore = Round.mappings();
        private final AtomicLong streams = new AtomicLong();
        private final ZMTPMemoryBudget budget =
                ZMTPMemoryBudget.of(ZMTPMemoryBudget.shared().limit());
        private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
        private final long seed;
        private final Totals totals;
        private final Violations violations;
        private volatile boolean over;

        SocketRound(long seed, Totals totals, Violations violations) throws IOException {
            this.seed = seed;
            this.totals = totals;
            this.violations = violations;
        }

        WatchedLoops loops() {
            return loops;
        }

        WatchedLoops proxyLoops() {
            return proxyLoops;
        }

        Path directory() {
            return directory;
        }

        ZMTPMemoryBudget budget() {
            return budget;
        }

        ByteBufAllocator allocator() {
            return allocator;
        }

        Totals totals() {
            return totals;
        }

        Violations violations() {
            return violations;
        }

        long newStream() {
            return streams.incrementAndGet();
        }

        List<SocketLink.Transport> transports() {
            return transports;
        }

        boolean isOver() {
            return over || violations.isEnough();
        }

        void run(Duration time) throws InterruptedException, IOException {
            List<Implementation> foreign = available();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < links; i++) {
                int slot = i;
                Thread thread = new Thread(() -> slot(slot, foreign), WatchedLoops.THREADS + "slot-" + slot);
                threads.add(thread);
                thread.start();
            }
            long start = System.nanoTime();
            for (long shown = PROGRESS_SECONDS; System.nanoTime() - start < time.toNanos() && !isOver(); ) {
                Thread.sleep(100);
                long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();
                if (seconds >= shown) {
                    shown = seconds + PROGRESS_SECONDS;
                    progress(seconds);
                }
            }
            over = true;
            for (Thread thread : threads) {
                thread.join();
            }
            end();
        }

        private void progress(long seconds) {
            print(
                    "%,6d s  links %,8d  faults %,8d  messages %,12d  direct %,5.0f MiB  violations %d",
                    seconds,
                    totals.sum("links"),
                    totals.sum("faults"),
                    totals.sum("messages", "received"),
                    io.netty.util.internal.PlatformDependent.usedDirectMemory() / MEGA,
                    violations.found().size());
        }

        /** One link in four has a foreign end. */
        private void slot(int slot, List<Implementation> foreign) {
            Implementation kind = slot % 4 == 3 && !foreign.isEmpty() ? foreign.get(slot / 4 % foreign.size()) : null;
            for (int turn = 0; !isOver(); turn++) {
                String name = seed + "/" + slot + "-" + turn;
                SocketLink link =
                        new SocketLink(this, name, new Random(seed * 1_000_003 + slot * 10_007L + turn), kind);
                try {
                    link.run();
                } catch (InterruptedException | RuntimeException | Error e) {
                    link.wrong("failed: " + e + " " + List.of(e.getStackTrace()) + " cause " + e.getCause());
                }
            }
        }

        private List<Implementation> available() {
            return foreign.stream().filter(SocketRound::isAvailable).toList();
        }

        private static boolean isAvailable(Implementation implementation) {
            PeerKind kind = implementation.foreign();
            if (kind == null) {
                return false;
            }
            try {
                kind.open().close();
                return true;
            } catch (TestAbortedException e) {
                return false;
            }
        }

        private void end() throws InterruptedException, IOException {
            for (WatchedLoops each : List.of(loops, proxyLoops)) {
                each.leftovers(Round.PATIENCE).forEach(left -> violations.add("left in the event loops: " + left));
                if (!each.end()) {
                    violations.add("event loops that do not end: " + each);
                }
            }
            try (Stream<Path> files = Files.list(directory)) {
                files.forEach(file -> violations.add("a file that is still there: " + file));
            }
            Files.deleteIfExists(directory);
            List<String> mappings = new ArrayList<>(Round.mappings());
            mappings.removeAll(mappingsBefore);
            mappings.forEach(mapping -> violations.add("memory that is still shared: " + mapping));
            if (budget.used() != 0) {
                violations.add("memory that is still accounted for: " + budget);
            }
            long allocated =
                    allocator.metric().usedDirectMemory() + allocator.metric().usedHeapMemory();
            if (allocated != 0) {
                violations.add("messages that were not released: " + allocated + " bytes");
            }
            leftovers.look(violations, Round.PATIENCE);
        }
    }
}
