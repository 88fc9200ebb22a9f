package dev.zmtp.compare;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Compares netty-zmtp with raw Netty, its predecessor, JeroMQ, libzmq and omq, and writes a report.
 *
 * <p>Run it with {@code mvn -Pcompare test-compile exec:exec@compare -Dcompare.args="--profile quick"}.
 */
@Command(
        name = "compare",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Measures peers side by side, in processes that take turns, and writes benchmarks.md.")
public final class Compare implements Callable<Integer> {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** After a pause, caches are cold and queues are full or empty. */
    private static final Duration SETTLING = Duration.ofMillis(100);

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--profile",
            paramLabel = "quick|full",
            defaultValue = "quick",
            description = "quick: about ten minutes; full: all cells, about two hours (quick).")
    private Profile profile;

    @Option(
            names = "--cell",
            paramLabel = "REGEX",
            defaultValue = "",
            description = "Only cells whose id this finds, such as oneway-100 or ^idle (all).")
    private Pattern cell;

    @Option(
            names = "--peer",
            paramLabel = "REGEX",
            defaultValue = "",
            description = "Only peers whose name this finds, such as epoll or libzmq (all).")
    private Pattern peer;

    @Option(
            names = "--baseline",
            paramLabel = "CLASSPATH",
            description = "Another build of netty-zmtp and its programs, measured beside this one.")
    private String baseline;

    @Option(names = "--windows", paramLabel = "N", description = "The windows of each peer, 1 to 1000 (7 or 9).")
    private Integer windows;

    @Option(names = "--seconds", paramLabel = "S", description = "The time of a window, 0.1 to 600 (0.4 or 0.5).")
    private Double seconds;

    @Option(names = "--warmup", paramLabel = "S", description = "The time before the first window, 0 to 600 (4 or 8).")
    private Double warmup;

    @Option(
            names = "--output",
            paramLabel = "DIR",
            defaultValue = "target/compare/report",
            description = "Where the report goes (target/compare/report).")
    private Path output;

    @Option(
            names = "--resume",
            description = "Go on with a comparison that was interrupted, whose results are in --output.")
    private boolean resume;

    @Option(
            names = "--add",
            description = "Add the cells to the results in --output, in the place of those with the same ids.")
    private boolean add;

    @Option(names = "--report-only", paramLabel = "FILE", description = "Write the report of these results again.")
    private Path reportOnly;

    Compare() {}

    /** Runs the comparison; the exit code is 0, or 1 if the report cannot be written, or 2 after wrong arguments. */
    public static void main(String... args) {
        // Pictures need no screen, and most machines that measure have none.
        System.setProperty("java.awt.headless", "true");
        System.exit(commandLine().execute(args));
    }

    /** The comparison as a command. */
    static CommandLine commandLine() {
        CommandLine command = new CommandLine(new Compare()).setCaseInsensitiveEnumValuesAllowed(true);
        command.setExecutionExceptionHandler((e, line, result) -> {
            line.getErr().println("compare: " + e);
            line.getErr().flush();
            return CommandLine.ExitCode.SOFTWARE;
        });
        return command;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        int laps = windows == null ? profile.windows() : windows;
        double measured = seconds == null ? profile.seconds() : seconds;
        double before = warmup == null ? profile.warmup() : warmup;
        checkRange("--windows", laps, 1, 1000);
        checkRange("--seconds", measured, 0.1, 600);
        checkRange("--warmup", before, 0, 600);
        if (add && resume) {
            throw new ParameterException(spec.commandLine(), "--add, --resume: both (expected: one of them)");
        }

        PrintWriter out = spec.commandLine().getOut();
        if (reportOnly != null) {
            Report.write(Results.read(reportOnly), output);
        } else {
            compare(laps, measured, before, out);
        }
        out.println(output.resolve("benchmarks.md"));
        out.flush();
        return CommandLine.ExitCode.OK;
    }

    private void compare(int laps, double measured, double before, PrintWriter out)
            throws IOException, InterruptedException {
        List<Cell> cells = Cells.of(profile, cell, baseline != null);
        List<ComparedPeer> peers = ComparedPeers.all(
                peer,
                name -> cells.stream().anyMatch(one -> one.peers().contains(name)),
                Optional.ofNullable(baseline));
        if (cells.stream()
                .noneMatch(one -> peers.stream().anyMatch(other -> one.peers().contains(other.name())))) {
            throw new ParameterException(
                    spec.commandLine(), "--cell \"" + cell + "\", --peer \"" + peer + "\": no cell has such a peer");
        }
        Map<String, String> environment = new LinkedHashMap<>(Environment.describe());
        environment.put("Profile", profile.name().toLowerCase(Locale.ROOT));
        if (!cell.pattern().isEmpty()) {
            environment.put("Cells", cell.pattern());
        }
        if (!peer.pattern().isEmpty()) {
            environment.put("Peers", peer.pattern());
        }
        if (baseline != null) {
            environment.put("Baseline", "another build");
        }
        environment.put("Windows", Integer.toString(laps));
        environment.put("Each window", measured + " s");
        environment.put("Warm-up", before + " s");
        Path file = output.resolve(Report.DETAILS).resolve(Report.RESULTS);
        Optional<Results> others = add ? Optional.of(Results.read(file)) : Optional.empty();
        List<Sample> kept = List.of();
        if (resume) {
            Results interrupted = Results.read(file);
            environment = interrupted.resumed(environment);
            kept = interrupted.samples();
        }
        Results empty = new Results(
                environment, cells, peers.stream().map(Results.Row::of).toList(), List.of());

        Window times = new Window(duration(before), SETTLING, duration(measured), PATIENCE);
        CellProgress progress = new CellProgress(out, System::nanoTime);
        new Comparison(cells, peers, laps, times, Environment.maxOpenFiles(), kept, progress).measure(samples -> {
            try {
                Results measuredNow = empty.with(samples);
                (others.isPresent() ? others.get().plus(measuredNow) : measuredNow).write(file);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        Report.write(Results.read(file), output);
    }

    private static Duration duration(double time) {
        return Duration.ofMillis(Math.round(time * 1000));
    }

    private void checkRange(String option, double value, double min, double max) {
        if (!(value >= min && value <= max)) {
            throw new ParameterException(
                    spec.commandLine(),
                    String.format(Locale.ROOT, "%s: %s (expected: %s to %s)", option, value, min, max));
        }
    }
}
