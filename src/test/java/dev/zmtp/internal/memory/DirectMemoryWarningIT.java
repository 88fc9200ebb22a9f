package dev.zmtp.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.JavaProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A JVM whose event loops can sleep until there is direct memory says what to set when much of it is used. */
class DirectMemoryWarningIT {

    private static final int LIMIT = 64 << 20;

    /** The program of these JVMs: it says when a little more than half of the budget is used, and then half again. */
    static final class Started {
        private Started() {}

        public static void main(String[] args) {
            MemoryLedger ledger = new MemoryLedger(MemoryLedger.defaultLimit());
            ledger.add(ledger.limit() / 2);
            System.err.println(HALF);
            ledger.add(1);
            ledger.add(1);
            new MemoryLedger(1).add(1);
        }
    }

    private static final String HALF = "half is used";

    /** Returns the lines with a warning of a JVM that is started with these options. */
    private static List<String> warnings(String... options) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of("-XX:MaxDirectMemorySize=" + LIMIT));
        all.addAll(List.of(options));
        List<String> command = JavaProcess.command(all, Started.class);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        List<String> lines = said.lines()
                .filter(line -> line.equals(HALF) || line.contains("direct memory"))
                .toList();
        assertThat(lines).first().isEqualTo(HALF);
        return lines.subList(1, lines.size());
    }

    @Test
    @Tag("java<24")
    void aJvmThatWaitsForDirectMemoryWarnsOnceAndNamesTheOption() throws Exception {
        assertThat(warnings())
                .singleElement()
                .asString()
                .endsWith("To fail fast, start the JVM with -Dio.netty.maxDirectMemory=" + LIMIT / 8 * 7
                        + ", or another value below " + LIMIT + ".");
    }

    @Test
    void thereIsNoWarningOnceThatIsSet() throws Exception {
        assertThat(warnings("-Dio.netty.maxDirectMemory=" + LIMIT / 8 * 7)).isEmpty();
    }

    @Test
    void thereIsNoWarningIfNettyAllocatesWithoutTheBoundOfTheJvm() throws Exception {
        assertThat(warnings(
                        "-Dio.netty.tryReflectionSetAccessible=true",
                        "-Dio.netty.noUnsafe=false",
                        "--add-opens=java.base/java.nio=ALL-UNNAMED"))
                .isEmpty();
    }

    @Test
    @Tag("java>=24")
    void thereIsNoWarningOnJvmsThatDoNotWait() throws Exception {
        assertThat(warnings()).isEmpty();
    }
}
