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
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Compares netty-zmtp with raw Netty, its predecessor, JeroMQ and libzmq, and writes a report.
 *
 * <p>Run it with {@code mvn -Pcompare test-compile exec:exec@compare -Dcompare.args="--profile quick"}.
 */
@Command(
        name = "compare",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Measures every cell of every peer, each in processes of its own, and writes benchmarks.md.")
public final class Compare implements Callable<Integer> {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--profile",
            paramLabel = "quick|full",
            defaultValue = "quick",
            description = "quick: under four minutes; full: all cells, about 55 minutes (quick).")
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

    @Option(names = "--rounds", paramLabel = "N", description = "How often each is measured, 1 to 100 (2 or 4).")
    private Integer rounds;

    @Option(names = "--seconds", paramLabel = "S", description = "The measured time of a run, 0.1 to 600 (1 or 2).")
    private Double seconds;

    @Option(names = "--warmup", paramLabel = "S", description = "The time before it, 0 to 600 (1.5 or 2.5).")
    private Double warmup;

    @Option(
            names = "--output",
            paramLabel = "DIR",
            defaultValue = "target/compare/report",
            description = "Where the report goes (target/compare/report).")
    private Path output;

    @Option(names = "--report-only", paramLabel = "JSON", description = "Write the report of these results again.")
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
        int times = rounds == null ? profile.rounds() : rounds;
        double measured = seconds == null ? profile.seconds() : seconds;
        double before = warmup == null ? profile.warmup() : warmup;
        checkRange("--rounds", times, 1, 100);
        checkRange("--seconds", measured, 0.1, 600);
        checkRange("--warmup", before, 0, 600);

        PrintWriter out = spec.commandLine().getOut();
        if (reportOnly != null) {
            Report.write(Results.read(reportOnly), output);
        } else {
            compare(times, measured, before, out);
        }
        out.println(output.resolve("benchmarks.md"));
        out.flush();
        return CommandLine.ExitCode.OK;
    }

    private void compare(int times, double measured, double before, PrintWriter out)
            throws IOException, InterruptedException {
        List<Cell> cells = Cells.of(profile, cell);
        List<ComparedPeer> peers = ComparedPeers.all(peer);
        if (cells.stream()
                .noneMatch(one -> peers.stream().anyMatch(other -> one.peers().contains(other.name())))) {
            throw new ParameterException(
                    spec.commandLine(), "--cell \"" + cell + "\", --peer \"" + peer + "\": no cell has such a peer");
        }
        Map<String, String> environment = new LinkedHashMap<>(Environment.describe());
        environment.put("Profile", profile.name().toLowerCase(Locale.ROOT));
        environment.put("Rounds", Integer.toString(times));
        environment.put("Each run", before + " s warm-up, " + measured + " s measured");
        List<Results.Row> rows = peers.stream().map(Results.Row::of).toList();

        Window window = new Window(duration(before), duration(measured), PATIENCE);
        Run run = new Run(window, Environment.maxOpenFiles());
        new Comparison(cells, peers, times, run, out).measure(samples -> {
            try {
                new Results(environment, cells, rows, samples)
                        .write(output.resolve(Report.DETAILS).resolve(Report.RESULTS));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        Report.write(Results.read(output.resolve(Report.DETAILS).resolve(Report.RESULTS)), output);
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
