package dev.zmtp.demo;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** The demo, run as a user runs it, but with seconds that are shorter. */
@Tag("netty-4.2-only")
class DemoTest {

    private static final Duration SECOND = Duration.ofMillis(100);

    private record Run(int exitCode, String out, String err) {}

    @Test
    void everyHandshakeAndEveryEchoIsShown() {
        Run run = demo("--seconds", "1");

        assertThat(run.err).isEmpty();
        assertThat(run.exitCode).isZero();
        assertThat(run.out.lines())
                .anySatisfy(line -> assertThat(line).matches("ROUTER listens on tcp://127\\.0\\.0\\.1:[0-9]+"))
                .contains("  handshake  version ZMTP30, mechanism NULL, peer type DEALER, identity \"jeromq\"")
                .anySatisfy(line -> assertThat(line)
                        .matches("  handshake  version ZMTP31, mechanism NULL, peer type DEALER,"
                                + " identity 0x00[0-9a-f]{16} \\(generated, as the peer has none\\)"))
                .containsSubsequence("  sent       \"hello\",\"\",0x00ff", "  echoed     \"hello\",\"\",0x00ff")
                .contains("  echoed     \"one\",\"two\",\"\",\"a fourth frame\"");
    }

    @ParameterizedTest(name = "of {0} bytes")
    @CsvSource({"0", "100", "20000"})
    void theRateIsShownEachSecondAndInTotal(int size) {
        Run run = demo("--seconds", "2", "--size", Integer.toString(size));

        assertThat(run.err).isEmpty();
        assertThat(run.exitCode).isZero();
        assertThat(run.out)
                .containsPattern("one way, messages of " + size + " bytes\n"
                        + " +1 s +[0-9,]+ messages/s\n"
                        + " +2 s +[0-9,]+ messages/s\n"
                        + " +total +[1-9][0-9,]* messages in [0-9.]+ s: [0-9,]+ messages/s, all received\n");
    }

    @Test
    void aRefusedHandshakeIsAFailureThatSaysWhy() {
        Run run = demo(PUB, Duration.ofSeconds(3));

        assertThat(run.exitCode).isEqualTo(1);
        // Either side may be the first to see that a PUB and a DEALER do not go together.
        assertThat(run.err)
                .startsWith("demo: no handshake with JeroMQ")
                .containsAnyOf("DEALER (expected: one that PUB talks to)", "; a peer left: ");
    }

    @Test
    void aMissingMessageIsAFailureThatSaysWhatIsMissing() {
        Run run = demo(ROUTER, Duration.ZERO);

        assertThat(run.exitCode).isEqualTo(1);
        assertThat(run.err).startsWith("demo: no ").contains("(expected: within 0 ms)");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "--seconds 0    | demo: --seconds: 0 (expected: 1 to 3600)",
                "--seconds 3601 | demo: --seconds: 3601 (expected: 1 to 3600)",
                "--size -1      | demo: --size: -1 (expected: 0 to 1048576)",
                "--size 1048577 | demo: --size: 1048577 (expected: 0 to 1048576)",
                "--size many    | demo: Invalid value for option '--size': 'many' is not an int",
                "--fast         | demo: Unknown option: '--fast'",
                "fast           | demo: Unmatched argument at index 0: 'fast'",
            })
    void wrongArgumentsGetAUsageLine(String arguments, String message) {
        Run run = demo(arguments.split(" "));

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.out).isEmpty();
        assertThat(run.err.lines()).containsExactly(message, "Usage: demo [-hV] [--seconds=N] [--size=N]");
    }

    @Test
    void helpAndVersionOnlyPrint() {
        Run help = demo("--help");
        Run version = demo("--version");

        assertThat(help.exitCode).isZero();
        assertThat(help.out)
                .startsWith("Usage: demo")
                .contains("--seconds", "--size")
                .doesNotContain("handshake ");
        assertThat(version.exitCode).isZero();
        assertThat(version.out.lines()).hasSize(1).first().asString().matches("netty-zmtp .+, Netty 4\\..+, Java .+");
    }

    @Test
    void noThreadIsLeftRunning() throws InterruptedException {
        Set<Thread> before = Thread.getAllStackTraces().keySet();

        demo("--seconds", "1");

        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (!before.contains(thread) && !thread.isDaemon()) {
                thread.join(10_000);
                assertThat(thread.isAlive()).as(thread.getName()).isFalse();
            }
        }
    }

    private static Run demo(String... arguments) {
        return demo(ROUTER, Duration.ofSeconds(10), arguments);
    }

    private static Run demo(ZMTPSocketType serverType, Duration deadline, String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine command = Demo.commandLine(serverType, deadline, SECOND);
        command.setOut(new PrintWriter(out));
        command.setErr(new PrintWriter(err));
        int exitCode = command.execute(arguments);
        command.getOut().flush();
        return new Run(exitCode, out.toString(), err.toString());
    }
}
