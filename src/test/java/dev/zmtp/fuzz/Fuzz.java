package dev.zmtp.fuzz;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs Jazzer, whose jars are in {@code target/jazzer}, in a JVM with the options of this one, and prints in one line
 * how it ended. The arguments are the target, how long it runs, and options of libFuzzer.
 *
 * <p>Only the code under test is instrumented, not the targets and what checks it.
 */
public final class Fuzz {

    private static final Pattern DONE = Pattern.compile("Done (\\d+) runs in (\\d+) second\\(s\\)");
    private static final int USAGE = 2;

    private Fuzz() {}

    /** Exits with 0 if nothing was found, otherwise with Jazzer's exit code. */
    @SuppressWarnings("SystemOut") // a command
    public static void main(String... args) throws IOException, InterruptedException {
        if (args.length < 2) {
            System.err.println(
                    "arguments: " + List.of(args) + " (expected: a target, a duration, options of libFuzzer)");
            System.exit(USAGE);
        }
        String target = args[0];
        Path findings = Path.of("target", "fuzz", target);
        Process jazzer = new ProcessBuilder(command(target, findings, args))
                .redirectErrorStream(true)
                .start();
        String runs = "an unknown number of runs";
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(jazzer.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                System.out.println(line);
                Matcher done = DONE.matcher(line);
                if (done.matches()) {
                    runs = "%,d runs in %s s".formatted(Long.parseLong(done.group(1)), done.group(2));
                }
            }
        }
        int exit = jazzer.waitFor();
        System.out.println(
                exit == 0
                        ? target + ": passed, " + runs
                        : target + ": FAILED with exit code " + exit + ", see above and " + findings);
        System.exit(exit);
    }

    private static List<String> command(String target, Path findings, String... args) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of(
                "-classpath",
                System.getProperty("java.class.path") + File.pathSeparator + Path.of("target", "jazzer", "*")));
        command.add("com.code_intelligence.jazzer.Jazzer");
        command.addAll(List.of(
                "--target_class=dev.zmtp.fuzz." + target,
                "--instrumentation_includes=dev.zmtp.**",
                "--instrumentation_excludes=dev.zmtp.fuzz.**:dev.zmtp.testing.**",
                "--custom_hook_includes=dev.zmtp.**",
                "--max_duration=" + args[1],
                "--reproducer_path=" + findings,
                "-artifact_prefix=" + findings + "/",
                "-create_missing_dirs=1",
                "-max_len=4096",
                "-rss_limit_mb=2500"));
        command.addAll(Arrays.asList(args).subList(2, args.length));
        command.add(findings.resolve("corpus").toString());
        command.add("src/test/resources/fuzz/" + target);
        return command;
    }
}
