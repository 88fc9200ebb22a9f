package dev.zmtp.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.interop.PeerContext;
import dev.zmtp.interop.PeerKind;
import dev.zmtp.interop.PeerSocket;
import dev.zmtp.security.ZMTPCurveKeyPair;
import io.netty.buffer.Unpooled;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The jar of the command line as a process, with other libraries as peers. */
class CliIT {

    private static final int PATIENCE_SECONDS = 30;

    /** Exit codes, as docs/cli.md has them. */
    private static final int OK = 0;

    private static final int TIMEOUT = 3;

    @TempDir
    private Path directory;

    /** A process that has ended. */
    private record Ended(int code, String output, String errors) {}

    private static String jar() {
        String library = System.getProperty("zmtp.jar");
        assertThat(library).as("the jar of this build; run mvn verify").isNotNull();
        return library.replaceAll("\\.jar$", "-cli.jar");
    }

    private Process start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-jar", jar()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectError(directory.resolve("errors").toFile())
                .start();
    }

    private Ended end(Process process, String input) throws IOException, InterruptedException {
        try (OutputStream stdin = process.getOutputStream()) {
            stdin.write(input.getBytes(StandardCharsets.UTF_8));
        }
        try (InputStream stdout = process.getInputStream()) {
            String output = new String(stdout.readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
            return new Ended(process.exitValue(), output, Files.readString(directory.resolve("errors")));
        } finally {
            process.destroyForcibly();
        }
    }

    private Ended run(String input, String... arguments) throws IOException, InterruptedException {
        return end(start(arguments), input);
    }

    private static String text(InputStream bytes) {
        try {
            return new String(bytes.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String text(ZMTPMessage message) {
        String text = message.frameUTF8(0);
        message.release();
        return text;
    }

    @ParameterizedTest
    @EnumSource
    @Tag("T116")
    void aRequestOfAnotherLibrarysPeerIsAnsweredAndNothingElseIsPrinted(PeerKind kind) throws Exception {
        try (PeerContext others = kind.open()) {
            PeerSocket rep = others.socket(ZMTPSocketType.REP);
            Process req = start("req", "tcp://127.0.0.1:" + rep.bind());
            req.getOutputStream().write("hello\n".getBytes(StandardCharsets.UTF_8));
            req.getOutputStream().flush();

            assertThat(text(rep.receive())).isEqualTo("hello");
            ZMTPMessage answer = ZMTPMessage.fromUTF8("world");
            rep.send(answer);
            answer.release();

            assertThat(end(req, "")).isEqualTo(new Ended(OK, "world\n", ""));
        }
    }

    @ParameterizedTest
    @EnumSource
    @Tag("T116")
    void linesArePushedToAnotherLibrary(PeerKind kind) throws Exception {
        try (PeerContext others = kind.open()) {
            PeerSocket pull = others.socket(ZMTPSocketType.PULL);

            Ended push = run("one\ntwo\n", "push", "tcp://127.0.0.1:" + pull.bind());

            assertThat(push).isEqualTo(new Ended(OK, "", ""));
            assertThat(text(pull.receive())).isEqualTo("one");
            assertThat(text(pull.receive())).isEqualTo("two");
        }
    }

    @Test
    void itListsTheLibrariesThatItContains() throws IOException {
        List<String> libraries = Pattern.compile("<include>([a-z.]+:\\S+)</include>")
                .matcher(Files.readString(Path.of("src/build/cli.xml")))
                .results()
                .map(library -> library.group(1))
                .toList();

        try (JarFile jar = new JarFile(jar());
                InputStream list = jar.getInputStream(jar.getEntry("META-INF/THIRD-PARTY.txt"))) {
            assertThat(new String(list.readAllBytes(), StandardCharsets.UTF_8)
                            .lines()
                            .filter(line -> line.contains(":") && !line.endsWith(":"))
                            .map(line -> line.split(" ", 2)[0]))
                    .hasSizeGreaterThan(10)
                    .containsExactlyElementsOf(libraries);
        }
    }

    /** Tests and the command line are compiled to one directory, from which the jar is made. */
    @Test
    void itsClassesAreThoseOfTheCommandLineAndTheLibrary() throws IOException {
        try (JarFile jar = new JarFile(jar())) {
            assertThat(jar.stream().map(JarEntry::getName).filter(name -> name.matches("dev/zmtp/[^$]+\\.class")))
                    .hasSizeGreaterThan(200)
                    .map(name -> name.replaceFirst("class$", "java"))
                    .allMatch(name -> Files.exists(Path.of("src/cli/java", name))
                            || Files.exists(Path.of("src/main/java", name)));
        }
    }

    @Test
    @Tag("T124")
    void theJarPrintsItsVersionWithoutAWarning() throws Exception {
        Ended version = run("", "--version");

        assertThat(version.code()).isZero();
        assertThat(version.output()).startsWith("netty-zmtp 1.");
        assertThat(version.errors()).isEmpty();
    }

    @Test
    @Tag("T123")
    void noSecretIsPrintedEvenIfEverythingIs() throws Exception {
        ZMTPCurveKeyPair server = ZMTPCurveKeyPair.generate();
        Path key = directory.resolve("client.key_secret");
        ZMTPCurveKeyPair.generate().save(key);
        String secret = Files.readAllLines(key).stream()
                .filter(line -> line.contains("secret-key"))
                .findFirst()
                .orElseThrow()
                .replaceAll(".*\"(.*)\".*", "$1");
        Path password = Files.writeString(directory.resolve("password"), "open sesame");

        Ended curve = run(
                "x\n",
                "req",
                "-vv",
                "-w",
                "500ms",
                "--key",
                key.toString(),
                "--server-key",
                server.publicKey().z85(),
                "tcp://127.0.0.1:1");
        Ended plain = run(
                "x\n",
                "req",
                "-vv",
                "-w",
                "500ms",
                "--user",
                "ada",
                "--password-file",
                password.toString(),
                "tcp://127.0.0.1:1");

        assertThat(curve.code()).isEqualTo(TIMEOUT);
        assertThat(curve.errors()).contains("Connecting").doesNotContain(secret);
        assertThat(plain.errors()).contains("Connecting").doesNotContain("open sesame");
    }

    @ParameterizedTest
    @EnumSource
    void eachFrameIsShownIfEverythingIs(PeerKind kind) throws Exception {
        try (PeerContext others = kind.open()) {
            PeerSocket pull = others.socket(ZMTPSocketType.PULL);

            Ended push = run("hello\n", "push", "-vv", "tcp://127.0.0.1:" + pull.bind());

            assertThat(push.code()).isEqualTo(OK);
            assertThat(push.output()).isEmpty();
            assertThat(push.errors()).contains("<< ZMTP3", " >> ZMTP3", " - 5 68656c6c6f");
        }
    }

    /** Returns the endpoint that a started command has bound. */
    private String bound() throws IOException, InterruptedException {
        Path errors = directory.resolve("errors");
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!Files.readString(errors).endsWith("\n") && System.nanoTime() < end) {
            Thread.sleep(20);
        }
        String line = Files.readString(errors);
        assertThat(line).startsWith("zmtp: bound to tcp://");
        return line.substring(line.indexOf("tcp://")).strip();
    }

    @Test
    void aSignalEndsItWithoutAStackTrace() throws Exception {
        Process sub = start("sub", "-b", "tcp://127.0.0.1:*");
        bound();

        new ProcessBuilder("kill", "-TERM", String.valueOf(sub.pid())).start().waitFor();

        assertThat(sub.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(sub.exitValue()).isEqualTo(143);
        assertThat(Files.readAllLines(directory.resolve("errors"))).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource
    void aCaptureIsCompleteAfterASignal(PeerKind kind) throws Exception {
        Path file = directory.resolve("traffic.pcapng");
        Process pull = start("pull", "--capture", file.toString(), "-b", "tcp://127.0.0.1:*");
        try (PeerContext others = kind.open();
                BufferedReader output = pull.inputReader(StandardCharsets.UTF_8)) {
            PeerSocket push = others.socket(ZMTPSocketType.PUSH);
            push.connect(Integer.parseInt(bound().replaceFirst(".*:", "")));
            ZMTPMessage hello = ZMTPMessage.fromUTF8("hello");
            push.send(hello);
            hello.release();
            assertThat(output.readLine()).isEqualTo("hello");

            new ProcessBuilder("kill", "-TERM", String.valueOf(pull.pid()))
                    .start()
                    .waitFor();

            assertThat(pull.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        } finally {
            pull.destroyForcibly();
        }
        assertThat(pull.exitValue()).isEqualTo(143);
        assertThat(Files.readAllLines(directory.resolve("errors"))).hasSize(1);
        Ended dump = run("", "dump", file.toString());
        assertThat(dump.output().lines()).anyMatch(line -> line.endsWith("#1 < hello"));
        assertThat(dump.errors()).as("that it is not complete").isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    @Tag("T126")
    void theFramesBetweenPeersOfAnotherLibraryArePrintedAndNoByteChanges(PeerKind kind) throws Exception {
        byte[] large = new byte[1_000_000];
        new Random(1).nextBytes(large);
        try (PeerContext others = kind.open()) {
            PeerSocket rep = others.socket(ZMTPSocketType.REP);
            PeerSocket req = others.socket(ZMTPSocketType.REQ);
            Process dump = start("dump", "-b", "tcp://127.0.0.1:*", "tcp://127.0.0.1:" + rep.bind());
            CompletableFuture<String> output = CompletableFuture.supplyAsync(() -> text(dump.getInputStream()));
            try {
                req.connect(Integer.parseInt(bound().replaceFirst(".*:", "")));
                req.send(ZMTPMessage.from(
                        Unpooled.copiedBuffer("hello", StandardCharsets.UTF_8), Unpooled.wrappedBuffer(large)));
                ZMTPMessage request = rep.receive();
                rep.send(request);
                ZMTPMessage answer = req.receive();

                assertThat(request.frameUTF8(0)).isEqualTo("hello");
                assertThat(request.frame(1)).isEqualTo(Unpooled.wrappedBuffer(large));
                assertThat(answer).isEqualTo(request);
            } finally {
                dump.toHandle().destroy(); // that of a Process closes its output, which is still read
            }
            List<String> lines = output.join().lines().toList();
            assertThat(lines).anyMatch(line -> line.matches("\\d+\\.\\d{6} #1 > READY Socket-Type \"REQ\".*"));
            assertThat(lines).anyMatch(line -> line.matches("\\d+\\.\\d{6} #1 > \\+ hello"));
            assertThat(lines).anyMatch(line -> line.matches("\\d+\\.\\d{6} #1 < .*\\.\\.\\. of 1000000 bytes"));
        }
    }
}
