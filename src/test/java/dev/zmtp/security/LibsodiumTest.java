package dev.zmtp.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.zmtp.testing.JavaProcess;
import java.io.File;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** In which way libsodium is called, in JVMs with and without JNA. */
class LibsodiumTest {

    private static final String ACCESS = "--enable-native-access=ALL-UNNAMED";
    private static final String SET = "-Ddev.zmtp.curve.primitives=libsodium";
    private static final String VERSION = "libsodium [0-9.]+";
    private static final String NO_JNA = "Java " + Runtime.version().feature()
            + " without JNA (expected: Java 22 or later, or net.java.dev.jna:jna among the dependencies,"
            + " as a module com.sun.jna)";

    /** What the program says that CURVE computes with in a JVM with these options; warnings of the JVM are in it too. */
    private static String chosen(String classPath, String... options) throws IOException, InterruptedException {
        List<String> all = Stream.concat(Stream.of(options), Stream.of("-Dslf4j.internal.verbosity=ERROR"))
                .toList();
        List<String> command = JavaProcess.command(all, ChosenLibrary.class).stream()
                .map(word -> word.equals(System.getProperty("java.class.path")) ? classPath : word)
                .toList();
        List<String> shell = List.of("sh", "-c", "exec \"$@\" 2>&1", "sh");
        try (JavaProcess process =
                new JavaProcess(Stream.concat(shell.stream(), command.stream()).toList())) {
            return String.join("\n", process.rest());
        }
    }

    private static String withJna() {
        assumeFalse(CurveLibraries.libsodium().isEmpty()); // which fails in CI
        return System.getProperty("java.class.path");
    }

    private static String withoutJna() {
        String[] all = withJna().split(File.pathSeparator);
        String rest = Arrays.stream(all)
                .filter(path -> !new File(path).getName().startsWith("jna-"))
                .collect(Collectors.joining(File.pathSeparator));
        assertThat(rest.split(File.pathSeparator)).hasSizeLessThan(all.length);
        return rest;
    }

    @Test
    @Tag("java<22")
    void anOldJavaCallsItThroughJna() throws Exception {
        assertThat(chosen(withJna())).matches(VERSION + " through JNA");
        assertThat(chosen(withJna(), SET)).matches(VERSION + " through JNA");
    }

    @Test
    @Tag("java<22")
    void withoutJnaAnOldJavaComputesWithBouncyCastle() throws Exception {
        assertThat(chosen(withoutJna())).isEqualTo("Bouncy Castle");
    }

    @Test
    @Tag("java<22")
    void withoutJnaAnOldJavaSaysWhatIsMissing() throws Exception {
        assertThat(chosen(withoutJna(), SET)).isEqualTo("CURVE: no usable libsodium: " + NO_JNA);
    }

    @Test
    void aJnaThatCannotLoadItsOwnPartIsNotMissing() {
        String reason = "Could not initialize class com.sun.jna.Native";
        assertThat(Libsodium.reason(new NoClassDefFoundError(reason)))
                .isEqualTo("JNA: " + reason + " (expected: usable)");
        assertThat(Libsodium.reason(new NoClassDefFoundError("com/sun/jna/Native")))
                .isEqualTo(NO_JNA);
    }

    @Test
    @Tag("java>=22")
    void aNewJavaCallsItItselfWhereverJnaIs() throws Exception {
        assertThat(chosen(withJna(), ACCESS)).matches(VERSION);
        assertThat(chosen(withoutJna(), ACCESS)).matches(VERSION);
    }

    /** JNA would make such a JVM warn of native access, as libsodium itself does. */
    @Test
    @Tag("java>=22")
    void withoutNativeAccessANewJavaComputesWithBouncyCastleThoughJnaIsThere() throws Exception {
        assertThat(chosen(withJna())).isEqualTo("Bouncy Castle");
    }
}
