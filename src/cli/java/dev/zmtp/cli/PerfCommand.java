package dev.zmtp.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures latency and throughput between two processes or hosts. */
@Command(
        name = "perf",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "server|client|pingpong",
        description = "Measures latency and throughput between two processes or hosts.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  zmtp perf server -b tcp://:5555",
            "  zmtp perf client tcp://10.0.0.7:5555 --rate 50000 --duration 30s",
            "  zmtp perf pingpong tcp://10.0.0.7:5555 --count 500000"
        })
final class PerfCommand implements Callable<Integer> {

    @Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    private PerfCommand() {}

    static CommandLine line(Console console) {
        return new CommandLine(new PerfCommand())
                .addSubcommand(new PerfServer(console))
                .addSubcommand(new PerfClient(console))
                .addSubcommand(new PerfPingPong(console));
    }

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), "perf: no command (expected: server, client or pingpong)");
    }
}
