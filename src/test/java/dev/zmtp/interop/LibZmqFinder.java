package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * Finds libzmq on the system. Where it is missing and can be installed without asking anybody, it is, by one test JVM
 * for all; the system property {@code libzmq.install=false} forbids that.
 */
final class LibZmqFinder {

    private static final List<String> NAMES = List.of("zmq", "libzmq.so.5");
    private static final long INSTALL_MINUTES = 5;

    private static final String WHAT_TO_DO = """
            libzmq was not found, and these tests talk to it.
              Debian, Ubuntu:  apt-get install libzmq5
              Fedora:          dnf install zeromq
              macOS:           brew install zeromq
            Or have it elsewhere and say where: -Djna.library.path=/its/directory""";

    private static @Nullable LibZmq found;
    private static boolean sought;

    private LibZmqFinder() {}

    /** Returns libzmq. Without it the test is skipped, or fails where CI=true: there nothing may be left untested. */
    static synchronized LibZmq require() {
        if (!sought) {
            sought = true;
            found = find();
            if (found == null) {
                print(WHAT_TO_DO); // the test runner keeps to itself why a test was skipped
            }
        }
        if (found == null) {
            if ("true".equals(System.getenv("CI"))) {
                fail(WHAT_TO_DO);
            }
            Assumptions.abort(WHAT_TO_DO);
        }
        return found;
    }

    private static @Nullable LibZmq find() {
        LibZmq present = load();
        if (present != null || !Boolean.parseBoolean(System.getProperty("libzmq.install", "true"))) {
            return present;
        }
        try {
            OncePerBuild.named("netty-zmtp-install-libzmq").run(() -> {
                if (load() == null) {
                    install();
                }
            });
        } catch (IOException e) {
            print("libzmq is not installed, as there is no lock for it: " + e);
        }
        return load(); // whatever became of the installation: somebody else may have done it
    }

    private static @Nullable LibZmq load() {
        for (String name : NAMES) {
            try {
                return LibZmq.load(name);
            } catch (UnsatisfiedLinkError e) {
                // Not under this name.
            }
        }
        return null;
    }

    /** Installs Debian's package, if this is such a system and we may. */
    private static void install() {
        if (!Files.exists(Path.of("/etc/debian_version")) || !run(List.of("apt-get", "--version"))) {
            return;
        }
        List<String> asRoot;
        if (run(List.of("sh", "-c", "test $(id -u) = 0"))) {
            asRoot = List.of();
        } else if (run(List.of("sudo", "-n", "true"))) {
            asRoot = List.of("sudo", "-n");
        } else {
            return;
        }
        print("libzmq is not on this system: installing the package libzmq5 with apt-get.");
        // Without fresh lists it may work too.
        boolean fresh = run(aptGet(asRoot, "update"));
        boolean installed = run(aptGet(asRoot, "install", "-y", "--no-install-recommends", "libzmq5"));
        print(installed ? "libzmq5 is installed." : "libzmq5 could not be installed; fresh package lists: " + fresh);
    }

    private static List<String> aptGet(List<String> asRoot, String... arguments) {
        List<String> command = new ArrayList<>(asRoot);
        // In the command itself, because sudo drops the environment.
        command.addAll(List.of("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-o", "DPkg::Lock::Timeout=120"));
        command.addAll(List.of(arguments));
        return command;
    }

    /**
     * Runs {@code command}; returns whether it succeeded. Its output is thrown away: stdout belongs to the test runner.
     */
    private static boolean run(List<String> command) {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            process.getOutputStream().close();
            if (!process.waitFor(INSTALL_MINUTES, TimeUnit.MINUTES)) {
                process.destroyForcibly();
                return false;
            }
            return process.exitValue() == 0;
        } catch (IOException e) {
            return false; // there is no such command
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @SuppressWarnings("SystemOut") // The user should know what the tests do to the system.
    private static void print(String line) {
        System.out.println(line);
    }
}
