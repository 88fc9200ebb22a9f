package dev.zmtp.cli;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.capture.ZMTPRecording;
import dev.zmtp.capture.ZMTPRecording.Entry;
import dev.zmtp.capture.ZMTPRecording.Kind;
import dev.zmtp.socket.ZMTPSocketConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** Plays the peers of a recording against a server. */
@Command(
        name = "replay",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Plays the peers that had connected to a recorded socket against a server, and compares its messages.",
            "The first message that is not as recorded ends it with exit code 1."
        },
        footerHeading = "%nExamples:%n",
        footer = "  zmtp replay orders.pcapng tcp://localhost:5555 --speed max")
final class ReplayCommand implements Callable<Integer> {

    /** A factor; 0 is as fast as possible. */
    static final class SpeedConverter implements ITypeConverter<Double> {
        @Override
        public Double convert(String text) {
            if (text.equals("max")) {
                return 0.0;
            }
            double factor;
            try {
                factor = Double.parseDouble(text);
            } catch (NumberFormatException e) {
                factor = 0;
            }
            if (!(factor >= 0.001 && factor <= 1e6)) {
                throw new TypeConversionException("'" + text + "' (expected: a factor from 0.001 to 1000000, or max)");
            }
            return factor;
        }
    }

    private final Console console;

    @Parameters(index = "0", paramLabel = "FILE", description = "A complete recording.")
    private Path file = Path.of("");

    @Parameters(index = "1", paramLabel = "ENDPOINT", description = "The server; tcp://:5555 is tcp://localhost:5555.")
    private String endpoint = "";

    @Option(
            names = "--of",
            paramLabel = "ENDPOINT",
            description = "Plays the peers of this recorded endpoint. Needed if the file has several.")
    private @Nullable String recorded;

    @Option(
            names = "--speed",
            paramLabel = "FACTOR",
            converter = SpeedConverter.class,
            defaultValue = "1",
            description = "1 keeps the recorded times, 10 is ten times as fast, max does not wait. Default: 1.")
    private double speed = 1;

    @Option(
            names = {"-w", "--wait"},
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "5s",
            description = "Maximum time to wait for the server. Default: 5s.")
    private Duration wait = Duration.ofSeconds(5);

    @ArgGroup(validate = false, heading = "%nSecurity:%n")
    private SecurityOptions security = new SecurityOptions();

    ReplayCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws InterruptedException {
        if (wait.toMillis() < 1) {
            throw new CliException(ExitCode.USAGE, "--wait: " + wait.toNanos() + " ns (expected: at least 1ms)");
        }
        try (ZMTPRecording recording = ZMTPRecording.open(file)) {
            if (!recording.isComplete()) {
                throw CliException.failed(file + ": " + recording.dropped()
                        + " packets were dropped, or its end is missing (expected: a complete recording)");
            }
            String of = recorded == null ? onlyEndpoint(recording) : recorded;
            try (LiveReplay replay =
                    new LiveReplay(EndpointArguments.toConnect(endpoint), of, this::config, speed, wait)) {
                for (Entry entry : recording.entries()) {
                    replay.play(entry);
                }
                console.printLine(replay.end());
            }
        } catch (UncheckedIOException e) {
            throw CliException.failed(file + ": " + Main.text(Objects.requireNonNullElse(e.getCause(), e)));
        } catch (IOException e) {
            throw CliException.failed(file + ": " + Main.text(e));
        }
        return ExitCode.OK;
    }

    private ZMTPSocketConfig.Builder config(ZMTPSocketType type) {
        ZMTPSocketConfig.Builder config = ZMTPSocketConfig.builder(type);
        security.apply(config, false, true);
        return config;
    }

    private String onlyEndpoint(ZMTPRecording recording) {
        Set<String> endpoints = new TreeSet<>();
        for (Entry entry : recording.entries()) {
            if (entry.kind() == Kind.UP && entry.accepted()) {
                endpoints.add(entry.endpoint());
            }
        }
        if (endpoints.size() != 1) {
            throw CliException.failed(file + ": peers had connected to " + endpoints
                    + (endpoints.isEmpty() ? " (expected: to an endpoint)" : " (expected: --of with one of these)"));
        }
        return endpoints.iterator().next();
    }
}
