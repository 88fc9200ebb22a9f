package dev.zmtp.cli;

import dev.zmtp.ZMTPSocketType;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Makes handshakes with a peer and prints who it is, or why it refuses. */
@Command(
        name = "ping",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description =
                "Makes a handshake with a peer of any type, and prints its version, mechanism and type, or the reason"
                        + " why it refuses.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  zmtp ping tcp://10.0.0.7:5555",
            "  zmtp ping -w 1s --server-key @server.key tcp://10.0.0.7:5556",
            "  zmtp ping -n 0 -i 1s tcp://10.0.0.7:5555"
        })
final class PingCommand implements Callable<Integer> {

    static final class TypeConverter implements ITypeConverter<ZMTPSocketType> {
        @Override
        public ZMTPSocketType convert(String text) {
            ZMTPSocketType type = ZMTPSocketType.ofName(text.toUpperCase(Locale.ROOT));
            if (type == null) {
                throw new TypeConversionException("'" + text + "' (expected: a socket type, such as dealer)");
            }
            return type;
        }
    }

    private final Console console;

    @Mixin
    private SocketOptions options = new SocketOptions();

    @Option(
            names = {"-n", "--count"},
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "Number of handshakes. 0 watches the peer until an interrupt, and prints changes only. Default: 1.")
    private long count = 1;

    @Option(
            names = {"-i", "--interval"},
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "1s",
            description = "Pause between handshakes. Default: 1s.")
    private Duration interval = Duration.ofSeconds(1);

    @Option(
            names = {"-w", "--wait"},
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "5s",
            description = "Maximum time of a handshake. Default: 5s.")
    private Duration wait = Duration.ofSeconds(5);

    @Option(
            names = "--as",
            paramLabel = "TYPE",
            converter = TypeConverter.class,
            description = "Own socket type. Default: dealer, or a type that fits if the peer says that it does not.")
    private @Nullable ZMTPSocketType as;

    PingCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws InterruptedException {
        List<String> endpoints = options.toConnect();
        if (endpoints.size() != 1) {
            throw new CliException(ExitCode.USAGE, "endpoints: " + endpoints.size() + " (expected: 1)");
        }
        if (options.binds() || options.captures()) {
            throw new CliException(ExitCode.USAGE, "--bind, --capture: not with ping");
        }
        if (count < 0) {
            throw new CliException(ExitCode.USAGE, "--count: " + count + " (expected: at least 0)");
        }
        Diagnostics.install(console, options.verbosity() == 0, options.verbosity());
        Greeter greeter = new Greeter(options, endpoints.get(0), wait);
        return count == 0 ? watch(greeter) : pings(greeter);
    }

    private int pings(Greeter greeter) throws InterruptedException {
        int code = ExitCode.OK;
        Greeter.Outcome first = greeter.greet(as); // its times are those of loading classes
        for (long i = 0; i < count; i++) {
            if (i > 0) {
                TimeUnit.NANOSECONDS.sleep(interval.toNanos());
            }
            Greeter.Outcome outcome = i == 0 && !first.isAlive() ? first : greeter.greet(as);
            if (outcome.isAlive()) {
                console.printLine(outcome.withTimes());
            } else {
                console.complain(outcome.text());
                code = outcome.exitCode();
            }
        }
        return code;
    }

    private int watch(Greeter greeter) throws InterruptedException {
        String last = "";
        while (true) {
            Greeter.Outcome outcome = greeter.greet(as);
            if (!outcome.text().equals(last)) {
                last = outcome.text();
                console.printLine(outcome.withTimes());
            }
            TimeUnit.NANOSECONDS.sleep(interval.toNanos());
        }
    }
}
