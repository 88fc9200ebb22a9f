package dev.zmtp.codec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.JavaProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** A JVM whose event loops can sleep until there is direct memory says at its start what to set. */
class DirectMemoryWarningIT {

    private static final int LIMIT = 64 << 20;

    /** The program of these JVMs: one that has a budget. */
    static final class Started {
        private Started() {}

        public static void main(String[] args) {
            System.exit(ZMTPMemoryBudget.shared().limit() > 0 ? 0 : 1);
        }
    }

    /** Returns the lines with a warning of a JVM that is started with these options. */
    private static List<String> warnings(String... options) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of("-XX:MaxDirectMemorySize=" + LIMIT));
        all.addAll(List.of(options));
        List<String> command = JavaProcess.command(all, Started.class);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        return said.lines().filter(line -> line.contains("can sleep")).toList();
    }

    @Test
    @EnabledForJreRange(max = JRE.JAVA_23)
    void aJvmThatWaitsForDirectMemoryWarnsAndNamesTheOption() throws Exception {
        assertThat(warnings())
                .singleElement()
                .asString()
                .endsWith("Event loops can sleep when direct memory runs short: start the JVM with"
                        + " -Dio.netty.maxDirectMemory=" + LIMIT / 8 * 7
                        + ", or less than its -XX:MaxDirectMemorySize of " + LIMIT);
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
    @EnabledForJreRange(min = JRE.JAVA_24)
    void thereIsNoWarningOnJvmsThatDoNotWait() throws Exception {
        assertThat(warnings()).isEmpty();
    }
}
