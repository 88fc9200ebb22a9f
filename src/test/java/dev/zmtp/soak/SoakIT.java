package dev.zmtp.soak;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.OwnHost;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** A short soak with a fixed seed, so that the program cannot rot. What it finds is a fault all the same. */
@Tag("slow")
@Tag("netty-4.2-only")
class SoakIT {

    /** Sockets of tests in other processes may still look for a server at the port of one that has ended. */
    private static final String OWN_HOST = OwnHost.of(5);

    private final StringWriter printed = new StringWriter();

    private int soak(String... args) {
        PrintWriter out = new PrintWriter(printed);
        return Soak.commandLine().setOut(out).setErr(out).execute(args);
    }

    @Test
    void messagesSurviveNetworkFaults() {
        int code =
                soak("--minutes", "0.1", "--seed", "7", "--connections", "21", "--heartbeat", "15", "--host", OWN_HOST);

        assertThat(code).as("%s", printed).isEqualTo(CommandLine.ExitCode.OK);
        assertThat(printed.toString())
                .contains("seed 7,", "violations: 0")
                .containsPattern("whole, NETTY_ZMTP DEALER_ROUTER +[1-9]")
                .containsPattern("broken, NETTY_ZMTP [A-Z_]+ +[1-9]")
                .containsPattern("whole, SHARED_MEMORY [A-Z_]+ +[1-9]")
                .containsPattern("broken, SHARED_MEMORY [A-Z_]+ +[1-9]")
                .containsPattern("JEROMQ peer +[1-9]")
                .containsPattern("proxy, RESET +[1-9]");
    }

    @Test
    void wrongArgumentsAreRefused() {
        assertThat(soak("--minutes", "0")).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(printed.toString()).contains("--minutes: 0.0 (expected: 0.1 to 10000.0)");
    }
}
