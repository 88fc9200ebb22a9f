package dev.zmtp.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/**
 * A short soak of our sockets with a fixed seed. What it finds is a fault all the same. Other implementations are left to
 * the program, as cut connections end them: an I/O thread of JeroMQ 0.6.0 dies of a ClosedChannelException.
 */
@Tag("slow")
@Tag("netty-4.2-only")
class SocketSoakIT {

    private final StringWriter printed = new StringWriter();

    private int soak(String... args) {
        PrintWriter out = new PrintWriter(printed);
        return SocketSoak.commandLine().setOut(out).setErr(out).execute(args);
    }

    /** T69, for seconds instead of a day. */
    @Tag("T69")
    @Test
    void socketsKnowWhatBecameOfEachMessage() {
        int code = soak("--minutes", "0.2", "--seed", "7", "--links", "16", "--foreign", "NETTY_ZMTP");

        assertThat(code).as("%s", printed).isEqualTo(CommandLine.ExitCode.OK);
        assertThat(printed.toString())
                .contains("violations: 0")
                .containsPattern("ours PUSH_PULL [A-Z]+ +[1-9]")
                .containsPattern("ours PAIR_PAIR [A-Z]+ +[1-9]")
                .containsPattern("ours [A-Z_]+ [A-Z]+, in peace +[1-9]")
                .containsPattern("a socket is replaced +[1-9]")
                .containsPattern("an event loop ends at once +[1-9]")
                .containsPattern("bursts: [1-9]")
                .containsPattern("cancelled +[1-9]")
                .containsPattern("proxy, RESET +[1-9]");
    }

    @Test
    void wrongArgumentsAreRefused() {
        assertThat(soak("--links", "0")).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(printed.toString()).contains("--links: 0.0 (expected: 1.0 to 200.0)");
    }
}
