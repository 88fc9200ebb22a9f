package dev.zmtp.attack;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Attacks a server of this library and one of libzmq, and prints a table of both.
 *
 * <p>Run it with {@code mvn -q test-compile exec:exec@attacks}, and options in
 * {@code -Dattacks.args="--attack HELLOS --seconds 20"}.
 */
@Command(
        name = "attacks",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Attacks a server with little memory, and measures how honest peers are served meanwhile.")
public final class AttackTable implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Option(names = "--seconds", paramLabel = "N", defaultValue = "10", description = "Time of each attack (10).")
    private int seconds;

    @Option(
            names = "--attack",
            paramLabel = "NAME",
            split = ",",
            description = "One of them, or several, by name: ${COMPLETION-CANDIDATES}. All by default.")
    private List<Attack> attacks = Arrays.asList(Attack.values());

    @Option(
            names = "--service",
            paramLabel = "NAME",
            split = ",",
            description = "Only these servers: ${COMPLETION-CANDIDATES}. All by default.")
    private List<Service> services = Arrays.asList(Service.values());

    @Option(
            names = "--library",
            paramLabel = "NAME",
            split = ",",
            description = "Only that one: ${COMPLETION-CANDIDATES}. Both by default.")
    private List<Library> libraries = Arrays.asList(Library.values());

    @Option(names = "--quick", description = "As many attackers as in the tests, instead of more.")
    private boolean quick;

    @Option(names = "--details", description = "All figures of each run.")
    private boolean details;

    /** Prints the table; the exit code is 0, or 2 after wrong arguments. */
    public static void main(String... args) {
        System.exit(new CommandLine(new AttackTable())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .execute(args));
    }

    @Override
    public Integer call() throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        out.println("| attack | library | throughput | median latency | newcomers | memory | missed |");
        out.println("| --- | --- | --- | --- | --- | --- | --- |");
        for (Attack attack : attacks) {
            for (Service service : attack.services()) {
                if (services.contains(service)) {
                    attack(attack, service);
                }
            }
        }
        return CommandLine.ExitCode.OK;
    }

    private void attack(Attack attack, Service service) throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        for (Library library : libraries) {
            AttackResult result;
            try (ServerAndTwin servers = new ServerAndTwin(library, service, List.of())) {
                result = new AttackRun(servers, attack, !quick, Duration.ofSeconds(seconds)).run();
            }
            List<String> faults = result.faults(AttackResult.Bounds.GOAL);
            out.printf(
                    "| %s: %s | %s | %s | %s |%n",
                    service, attack.title(!quick), library, result.cells(), String.join("; ", faults));
            if (details) {
                out.println(result);
            }
            out.flush();
        }
    }
}
