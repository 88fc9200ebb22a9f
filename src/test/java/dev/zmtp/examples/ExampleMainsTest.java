package dev.zmtp.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the programs say to those who run them. */
@Tag("netty-4.2-only")
@Timeout(60)
class ExampleMainsTest {

    private static final Path EXAMPLES = Path.of("src/test/java/dev/zmtp/examples");
    private static final Pattern NAMED = Pattern.compile("-Dexample=(\\w+)");

    /** A program with its arguments. */
    private interface Main {
        void run(String... args) throws Exception;
    }

    private static String errors(Main main, String... args) throws Exception {
        PrintStream before = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true, UTF_8));
        try {
            main.run(args);
        } finally {
            System.setErr(before);
        }
        return printed.toString(UTF_8);
    }

    private static Stream<Main> programsThatTakeArguments() {
        return Stream.of(
                BusyLoops::main,
                OverTls::main,
                ReqRep::main,
                SharedMemory::main,
                BlockingSharedMemory::main,
                SocketsOverTls::main,
                Tutorial::main,
                UnixSocket::main);
    }

    @ParameterizedTest
    @MethodSource("programsThatTakeArguments")
    void withoutArgumentsAProgramPrintsHowToRunIt(Main main) throws Exception {
        assertThat(errors(main)).hasLineCount(1).startsWith("usage: mvn -q test-compile exec:java@example -Dexample=");
    }

    @ParameterizedTest
    @MethodSource("programsThatTakeArguments")
    void wrongArgumentsAreAnsweredInTheSameWay(Main main) throws Exception {
        assertThat(errors(main, "sing", "a", "song")).hasLineCount(1).startsWith("usage: ");
    }

    private static List<String> programs() throws IOException {
        try (Stream<Path> files = Files.list(EXAMPLES)) {
            return files.map(ExampleMainsTest::text)
                    .filter(text -> text.contains("public static void main("))
                    .toList();
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void everyProgramSaysWhatToRunBesideIt() throws IOException {
        assertThat(programs())
                .hasSizeGreaterThan(20)
                .allSatisfy(
                        text -> assertThat(text).containsAnyOf("-Dexample=", "python3 ", "Nothing to run beside it."));
    }

    @Test
    void everyProgramThatAnotherOneNamesExists() throws IOException {
        for (String text : programs()) {
            List<String> named = NAMED.matcher(text)
                    .results()
                    .map((MatchResult match) -> match.group(1))
                    .toList();
            assertThat(named)
                    .allSatisfy(
                            name -> assertThat(EXAMPLES.resolve(name + ".java")).exists());
        }
    }
}
