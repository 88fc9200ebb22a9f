package dev.zmtp.soak;

import dev.zmtp.codec.ZMTPMemoryBudget;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Peers of three implementations talk to servers of the codec while their connections are broken, and every message is
 * checked.
 *
 * <p>Run it with {@code mvn -q test-compile exec:exec@soak}, and options in
 * {@code -Dsoak.args="--minutes 30 --seed 7"}.
 */
@Command(
        name = "soak",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Messages of netty-zmtp, JeroMQ and libzmq under faults of the network; checks each of them.")
public final class Soak implements Callable<Integer> {

    private static final double MEGA = 1 << 20;
    private static final int MAX_PORT = 65_535;

    /** The part that runs in this process. */
    enum Role {
        /** Both. */
        BOTH,
        /** The servers, until Enter is pressed or the standard input ends. */
        SERVER,
        /** The peers and proxies. */
        PEERS
    }

    /** What the rounds of a run have in common. */
    record Settings(
            Role role,
            String host,
            int port,
            long seed,
            int connections,
            int heartbeat,
            ZMTPMemoryBudget budget,
            List<Implementation> kinds) {
        /** How long a proxy is silent, so that a heartbeat notices: the interval longer, and some more. */
        int silenceMillis() {
            return heartbeat * 1_000 + 3_000;
        }
    }

    @Spec
    private CommandSpec spec;

    @Option(names = "--minutes", paramLabel = "N", defaultValue = "1", description = "Time to run, 0.1 to 10000 (1).")
    private double minutes;

    @Option(
            names = "--seed",
            paramLabel = "N",
            description = "Repeats the faults of another run (a new one each time).")
    private @Nullable Long seed;

    @Option(names = "--connections", paramLabel = "N", defaultValue = "50", description = "At a time, 1 to 1000 (50).")
    private int connections;

    @Option(
            names = "--heartbeat",
            paramLabel = "N",
            defaultValue = "30",
            description = "Seconds of silence that end a connection, 1 to 100 (30). A busy machine needs many.")
    private int heartbeat;

    @Option(
            names = "--budget",
            paramLabel = "BYTES",
            defaultValue = "" + Long.MAX_VALUE,
            description = "What the server's connections may keep together; those above it are ended (no limit).")
    private long budget;

    @Option(
            names = "--role",
            paramLabel = "ROLE",
            defaultValue = "BOTH",
            description = "BOTH, or SERVER or PEERS alone.")
    private Role role;

    @Option(
            names = "--host",
            paramLabel = "HOST",
            defaultValue = "127.0.0.1",
            description = "The server's (127.0.0.1).")
    private String host;

    @Option(
            names = "--port",
            paramLabel = "N",
            defaultValue = "0",
            description = "The first of the server's four; 0, the default, for free ones if both run here.")
    private int port;

    /** Runs the soak; the exit code is 0, or 1 if something was wrong, or 2 after wrong arguments. */
    public static void main(String... args) {
        System.exit(commandLine().execute(args));
    }

    /** The soak as a command. */
    static CommandLine commandLine() {
        return new CommandLine(new Soak()).setCaseInsensitiveEnumValuesAllowed(true);
    }

    @Override
    public Integer call() throws Exception {
        check("--minutes", minutes, 0.1, 10_000);
        check("--connections", connections, 1, 1_000);
        check("--heartbeat", heartbeat, 1, 100);
        check("--budget", (double) budget, 1, Long.MAX_VALUE);
        check("--port", port, role == Role.BOTH ? 0 : 1, MAX_PORT - Pattern.values().length);
        Settings settings = new Settings(
                role,
                host,
                port,
                seed == null ? ThreadLocalRandom.current().nextInt(1 << 30) : seed,
                connections,
                heartbeat,
                ZMTPMemoryBudget.of(budget),
                kinds());
        return run(settings) ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }

    private void check(String option, double value, double least, double most) {
        if (value < least || value > most) {
            throw new ParameterException(
                    spec.commandLine(), option + ": " + value + " (expected: " + least + " to " + most + ")");
        }
    }

    /** Half of the peers are ours; libzmq's are only where it is. */
    private List<Implementation> kinds() {
        List<Implementation> kinds = new ArrayList<>(List.of(
                Implementation.NETTY_ZMTP,
                Implementation.JEROMQ,
                Implementation.LIBZMQ,
                Implementation.NETTY_ZMTP,
                Implementation.LIBZMQ,
                Implementation.JEROMQ,
                Implementation.NETTY_ZMTP));
        if (role == Role.BOTH) { // where the server is, memory can be shared
            kinds.add(Implementation.SHARED_MEMORY);
        }
        if (role != Role.SERVER) {
            try {
                Implementation.LIBZMQ.foreign().open().close();
            } catch (TestAbortedException e) {
                print("without libzmq: %s", e.getMessage());
                kinds.removeIf(Implementation.LIBZMQ::equals);
            }
        }
        return kinds;
    }

    private boolean run(Settings settings) throws InterruptedException, IOException {
        PrintWriter out = spec.commandLine().getOut();
        Totals totals = new Totals();
        Violations violations = new Violations(out, settings.seed());
        print(
                "soak of %.2f minutes, seed %d, %d connections at a time, %s, buffers are %scounted",
                minutes, settings.seed(), settings.connections(), role, Leftovers.tracksBuffers() ? "" : "not ");
        long start = System.nanoTime();
        if (role == Role.SERVER) {
            serve(settings, totals, violations);
        } else {
            peers(settings, totals, violations);
        }
        print("%nseed %d, %.0f s", settings.seed(), (System.nanoTime() - start) / 1e9);
        totals.print(out);
        print("violations: %d", violations.found().size());
        violations.found().forEach(found -> print("  %s", found));
        boolean passed = violations.found().isEmpty();
        print(
                "soak %s: %,d messages received on %,d links",
                passed ? "passed" : "FAILED", totals.sum("messages received, whole and in order"), totals.sum("links"));
        return passed;
    }

    private void serve(Settings settings, Totals totals, Violations violations)
            throws InterruptedException, IOException {
        Leftovers leftovers = new Leftovers();
        Round round = new Round(settings, 0, totals, violations);
        print("listening on %s, ports %d to %d; press Enter to end", host, port, port + Pattern.values().length - 1);
        System.in.read(); // Maven hands on what is typed, but not the end of its input
        round.end();
        leftovers.look(violations, Round.PATIENCE);
    }

    /** A short round first: what the JVM keeps from then on is not ours. */
    private void peers(Settings settings, Totals totals, Violations violations)
            throws InterruptedException, IOException {
        Duration all = Duration.ofMillis((long) (minutes * 60_000));
        Duration first =
                all.dividedBy(6).compareTo(Duration.ofSeconds(60)) < 0 ? all.dividedBy(6) : Duration.ofSeconds(60);
        round(settings, 0, first, totals, violations);
        long before = Leftovers.heap();
        round(settings, 1, all.minus(first), totals, violations);
        long after = Leftovers.heap();
        print(
                "%nheap after the first round %.1f MiB, at the end %.1f MiB (expected: at most %.0f MiB more)",
                before / MEGA, after / MEGA, Leftovers.HEAP_TOLERANCE / MEGA);
        if (after - before > Leftovers.HEAP_TOLERANCE) {
            violations.add(
                    "heap: " + after + " bytes (expected: <= " + before + " + " + Leftovers.HEAP_TOLERANCE + ")");
        }
    }

    private void round(Settings settings, int number, Duration time, Totals totals, Violations violations)
            throws InterruptedException, IOException {
        Leftovers leftovers = new Leftovers();
        Round round = new Round(settings, number, totals, violations);
        round.peers(time, seconds -> progress(number, seconds, totals, violations));
        round.end();
        leftovers.look(violations, Round.PATIENCE);
        print("round %d has ended, longest pause of this process %.1f s", number, round.longestPause() / 1e3);
    }

    private void progress(int number, long seconds, Totals totals, Violations violations) {
        print(
                "round %d %,6d s  links %,8d  broken %,7d  faults %,8d  messages %,12d  %,9.0f MiB  direct %,5.0f MiB  violations %d",
                number,
                seconds,
                totals.sum("links"),
                totals.sum("links ended", "broken"),
                totals.sum("faults"),
                totals.sum("messages received, whole and in order"),
                totals.sum("bytes received") / MEGA,
                PlatformDependent.usedDirectMemory() / MEGA,
                violations.found().size());
    }

    private void print(String format, Object... values) {
        PrintWriter out = spec.commandLine().getOut();
        out.printf(Locale.ROOT, format + "%n", values);
        out.flush();
    }
}
