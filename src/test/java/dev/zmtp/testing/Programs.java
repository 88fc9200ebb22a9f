package dev.zmtp.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Programs that tests call, if the machine has them. */
public final class Programs {

    private static final int PATIENCE_SECONDS = 120;

    /** The folder into which {@code .ci/run} installs packages of npm. */
    public static final Path NODE_MODULES = Path.of(".tools", "node_modules");

    /** The folder into which {@code .ci/run} installs packages of Python. */
    public static final Path PYTHON_MODULES = Path.of(".tools", "python");

    private Programs() {}

    /** Whether the program is on the path. */
    static boolean hasProgram(String name) {
        String path = System.getenv("PATH");
        return path != null
                && path.lines()
                        .flatMap(line -> List.of(line.split(":")).stream())
                        .anyMatch(folder -> Files.isExecutable(Path.of(folder, name)));
    }

    /** Whether Node is installed, and this file or directory of a package of npm. */
    static boolean hasModule(String name) {
        return hasProgram("node") && Files.exists(NODE_MODULES.resolve(name));
    }

    /** Whether the library websockets of Python is installed. */
    static boolean hasWebsockets() {
        return hasProgram("python3") && Files.exists(PYTHON_MODULES.resolve("websockets"));
    }

    /** What the program prints. Its errors go there, too. */
    public static String run(String... command) throws IOException, InterruptedException {
        Path out = Files.createTempFile("tool", ".txt");
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(out.toFile())
                    .start();
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IOException(String.join(" ", command) + ": still running");
            }
            return Files.readString(out, StandardCharsets.UTF_8);
        } finally {
            Files.delete(out);
        }
    }
}
