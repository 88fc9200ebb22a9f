package dev.zmtp.cli;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPProxy;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Forwards messages between two sockets, until the program is interrupted. */
@Command(
        name = "proxy",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Forwards messages between two bound sockets, in both directions.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  zmtp proxy --frontend router=tcp://:5555 --backend dealer=tcp://:5556",
            "  zmtp proxy --frontend xsub=tcp://:5555 --backend xpub=tcp://:5556 --every 10s"
        })
final class ProxyCommand implements Callable<Integer> {

    private final Console console;

    @Option(
            names = "--frontend",
            required = true,
            paramLabel = "TYPE=ENDPOINT",
            description = "Socket that is bound for the one side.")
    private String frontend = "";

    @Option(
            names = "--backend",
            required = true,
            paramLabel = "TYPE=ENDPOINT",
            description = "Socket that is bound for the other side.")
    private String backend = "";

    @Option(
            names = "--tap",
            paramLabel = "TYPE=ENDPOINT",
            description = "Socket that is bound and gets a copy of each message: pub, push or pair.")
    private @Nullable String tap;

    @Option(
            names = "--every",
            paramLabel = "TIME",
            converter = Durations.class,
            description = "Prints a line of statistics each TIME.")
    private @Nullable Duration every;

    /** Of all sockets, which are servers. */
    @Mixin
    private SecurityOptions security = new SecurityOptions();

    ProxyCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws InterruptedException {
        Diagnostics.install(console, false, 0);
        ZMTPSocket front = open("--frontend", frontend);
        ZMTPSocket back = open("--backend", backend);
        ZMTPProxy proxy = tap == null ? ZMTPProxy.start(front, back) : ZMTPProxy.start(front, back, open("--tap", tap));
        while (true) {
            Duration pause = every == null ? Duration.ofDays(1) : every;
            TimeUnit.NANOSECONDS.sleep(pause.toNanos());
            if (every != null) {
                console.printLine(proxy.stats().toString());
            }
        }
    }

    private ZMTPSocket open(String option, String value) throws InterruptedException {
        int split = value.indexOf('=');
        ZMTPSocketType type = split < 0
                ? null
                : ZMTPSocketType.ofName(value.substring(0, split).toUpperCase(Locale.ROOT));
        if (type == null) {
            throw new CliException(
                    ExitCode.USAGE, option + ": " + value + " (expected: TYPE=ENDPOINT, such as router=tcp://:5555)");
        }
        ZMTPSocketConfig.Builder config = ZMTPSocketConfig.builder(type);
        security.apply(config, true, false);
        ZMTPSocket socket = ZMTPSocket.of(config.build());
        SocketOptions.bind(console, socket, EndpointArguments.toBind(value.substring(split + 1)), false);
        return socket;
    }
}
