package dev.zmtp.cli;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PAIR;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands in this process, with sockets of the library as peers. */
class CliTest {

    private final TestSockets sockets = new TestSockets(1);

    @TempDir
    private Path directory;

    /** A command that has run in this process. */
    record CommandRun(int code, String output, String errors) {

        static CommandRun of(String input, String... arguments) {
            ByteArrayOutputStream output = new ByteArrayOutputStream();
            CommandRun run = of(new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)), output, arguments);
            return new CommandRun(run.code, output.toString(StandardCharsets.UTF_8), run.errors);
        }

        /** Runs a command with streams of its own, so that nothing of its output is in the result. */
        static CommandRun of(InputStream input, OutputStream output, String... arguments) {
            ByteArrayOutputStream errors = new ByteArrayOutputStream();
            Console console = new Console(input, output, new PrintStream(errors, true, StandardCharsets.UTF_8));
            int code = Main.run(console, arguments);
            return new CommandRun(code, "", errors.toString(StandardCharsets.UTF_8));
        }
    }

    private static CommandRun run(String input, String... arguments) {
        return CommandRun.of(input, arguments);
    }

    static CompletableFuture<CommandRun> begin(String input, String... arguments) {
        return begin(() -> run(input, arguments));
    }

    /** Runs a command on a thread of its own. */
    static <T> CompletableFuture<T> begin(Supplier<T> run) {
        return CompletableFuture.supplyAsync(run, command -> {
            Thread thread = new Thread(command, "zmtp");
            thread.setDaemon(true);
            thread.start();
        });
    }

    private String bound(ZMTPSocketType type) {
        return TestSockets.bind(sockets.open(type), "tcp://127.0.0.1:*");
    }

    @AfterEach
    void close() {
        sockets.close();
    }

    @Test
    @Tag("T116")
    void eachLineIsARequestAndEachAnswerALine() {
        ZMTPSocket rep = sockets.open(REP);
        rep.serve(request -> request.reply(request.message()));
        String endpoint = TestSockets.bind(rep, "tcp://127.0.0.1:*");

        CommandRun req = run("hello\nyou\tthere\n", "req", "-w", "10s", endpoint);

        assertThat(req).isEqualTo(new CommandRun(ExitCode.OK, "hello\nyou\tthere\n", ""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rep", "router"})
    void aServiceAnswersWithItsInput(String command) throws IOException {
        String endpoint = "ipc://" + directory.resolve("service");
        CompletableFuture<CommandRun> service = begin("one\ntwo\n", command, "-n", "2", "-w", "20s", "-b", endpoint);

        CommandRun client = run("a\nb\n", "dealer", "-w", "10s", endpoint);

        assertThat(client).isEqualTo(new CommandRun(ExitCode.OK, "one\ntwo\n", ""));
        assertThat(TestSockets.get(service)).isEqualTo(new CommandRun(ExitCode.OK, "a\nb\n", ""));
    }

    @Test
    void pagesOfAnAllowedOriginCanConnect() throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        String endpoint = "ws://127.0.0.1:" + port + "/feed";
        CompletableFuture<CommandRun> pull =
                begin("", "pull", "-n", "1", "-w", "20s", "--origin", "https://app.example.com", "-b", endpoint);

        HttpClient browser = HttpClient.newHttpClient();
        TestSockets.await("the command is bound", () -> status(browser, endpoint, "https://app.example.com") == 101);
        assertThat(status(browser, endpoint, "https://other.example.com")).isEqualTo(403);
        run("", "push", "-D", "end", endpoint);
        assertThat(TestSockets.get(pull).output()).isEqualTo("end\n");
    }

    /** Returns the status of the answer to an upgrade of a page of this origin; 0 without an answer. */
    private static int status(HttpClient browser, String endpoint, String origin) {
        WebSocket.Builder page =
                browser.newWebSocketBuilder().header("Origin", origin).subprotocols("ZWS2.0");
        try {
            page.buildAsync(URI.create(endpoint), new WebSocket.Listener() {})
                    .join()
                    .abort();
            return 101;
        } catch (CompletionException e) {
            return e.getCause() instanceof WebSocketHandshakeException refused
                    ? refused.getResponse().statusCode()
                    : 0;
        }
    }

    @Test
    void aDealerWithRawFramesSendsNoEnvelope() {
        String endpoint = "ipc://" + directory.resolve("raw");
        CompletableFuture<CommandRun> router =
                begin("", "router", "--echo", "-f", "hex", "-n", "2", "-w", "20s", "-b", endpoint);

        CommandRun dealer = run("61 62\n- 63\n", "dealer", "--raw-frames", "-f", "hex", "-w", "10s", endpoint);

        assertThat(dealer).isEqualTo(new CommandRun(ExitCode.OK, "61 62\n- 63\n", ""));
        assertThat(TestSockets.get(router)).isEqualTo(new CommandRun(ExitCode.OK, "61 62\n63\n", ""));
    }

    @Test
    void aDealerWithRawFramesWaitsForAPeerInTime() {
        CommandRun dealer =
                run("x\n", "dealer", "--raw-frames", "-q", "-l", "0s", "-w", "100ms", "-b", "tcp://127.0.0.1:*");

        assertThat(dealer.code()).isEqualTo(ExitCode.TIMEOUT);
        assertThat(dealer.errors()).contains("nothing came within 100 ms");
    }

    @Test
    void aRouterSendsItsInputToTheNamedPeer() {
        String endpoint = "ipc://" + directory.resolve("to");
        CompletableFuture<CommandRun> router =
                begin("one\ntwo\n", "router", "--to", "worker", "-w", "20s", "-b", endpoint);
        ZMTPSocket other = sockets.open(DEALER);
        ZMTPSocket worker = sockets.open(sockets.builder(DEALER).codec(codec -> codec.localIdentity("worker")));

        other.connect(endpoint);
        worker.connect(endpoint);

        assertThat(TestSockets.receive(worker)).containsExactly("one");
        assertThat(TestSockets.receive(worker)).containsExactly("two");
        assertThat(TestSockets.get(router)).isEqualTo(new CommandRun(ExitCode.OK, "", ""));
    }

    @Test
    void aRouterWhoseNamedPeerDoesNotComeFailsInTime() {
        CommandRun router = run("one\n", "router", "--to", "worker", "-w", "100ms", "-b", "tcp://127.0.0.1:*", "-q");

        assertThat(router)
                .isEqualTo(new CommandRun(
                        ExitCode.TIMEOUT, "", "zmtp: no peer with the routing id of --to within 100 ms\n"));
    }

    @Test
    void aPublisherPrintsSubscriptionsAndSendsToTheFirstSubscriber() {
        String endpoint = "ipc://" + directory.resolve("news");
        CompletableFuture<CommandRun> xpub = begin("", "xpub", "-D", "hello", "-n", "1", "-w", "20s", "-b", endpoint);

        CommandRun sub = run("", "sub", "-n", "1", "-w", "10s", "-t", "hel", endpoint);

        assertThat(sub).isEqualTo(new CommandRun(ExitCode.OK, "hello\n", ""));
        assertThat(TestSockets.get(xpub)).isEqualTo(new CommandRun(ExitCode.OK, "subscribe\thel\n", ""));
    }

    @Test
    void aFailureOfTheInputEndsACommandThatPrints() {
        CommandRun pair = run("61\nzz\n", "pair", "-q", "-l", "10ms", "-f", "hex", bound(PAIR));

        assertThat(pair.code()).isEqualTo(ExitCode.FAILED);
        assertThat(pair.errors()).contains("line 2 of the input: ");
    }

    @Test
    void pingPrintsNoControlCharactersOfAPeer() {
        ZMTPSocket dealer =
                sockets.open(sockets.builder(ROUTER).codec(codec -> codec.localIdentity("evil\033[31m\nfake")));

        CommandRun ping = run("", "ping", TestSockets.bind(dealer, "tcp://127.0.0.1:*"));

        assertThat(ping.output()).contains("identity \"evil\\x1b[31m\\nfake\"").containsOnlyOnce("\n");
    }

    @Test
    void aFileIsAValueAndNotAFileOfArguments() throws IOException {
        Path key = directory.resolve("server.key");
        ZMTPCurveKeyPair.generate().publicKey().save(key);
        ZMTPSocket pull = sockets.open(PULL);
        String endpoint = TestSockets.bind(pull, "tcp://127.0.0.1:*");

        assertThat(run("", "push", "-D", "@" + key, endpoint).code()).isEqualTo(ExitCode.OK);
        assertThat(TestSockets.receive(pull)).containsExactly("@" + key);
        assertThat(run("", "ping", "-w", "2s", "--server-key", "@" + key, endpoint)
                        .errors())
                .contains("CURVE");
    }

    @Test
    @Tag("T117")
    void fewerMessagesThanAskedForAreATimeout() {
        ZMTPSocket pub = sockets.open(PUB);
        String endpoint = TestSockets.bind(pub, "tcp://127.0.0.1:*");
        CompletableFuture<CommandRun> sub = begin("", "sub", "-n", "3", "-w", "1s", endpoint);
        TestSockets.get(pub.whenPeers(1));

        pub.sendOrDrop(message("1"));
        pub.sendOrDrop(message("2"));

        assertThat(TestSockets.get(sub))
                .isEqualTo(new CommandRun(ExitCode.TIMEOUT, "1\n2\n", "zmtp: nothing came within 1000 ms\n"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"json", "quoted", "hex"})
    @Tag("T118")
    void allBytesSurviveFromOneProgramToAnother(String format) {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < 256; i++) {
            all.append(String.format("%02x", i));
        }
        String endpoint = "ipc://" + directory.resolve("bytes");
        CompletableFuture<CommandRun> pull = begin("", "pull", "-n", "2", "-w", "20s", "-f", "hex", "-b", endpoint);
        CompletableFuture<CommandRun> relay =
                begin("", "pull", "-n", "1", "-w", "20s", "-f", format, "-b", endpoint + "2");

        run(all + " - " + all + "\n", "push", "-f", "hex", endpoint + "2");
        run(TestSockets.get(relay).output(), "push", "-f", format, endpoint);
        run("ff\n", "push", "-f", "hex", endpoint);

        assertThat(TestSockets.get(pull).output()).isEqualTo(all + " - " + all + "\nff\n");
    }

    @Test
    void dataAndAFileAreSentOnce() throws IOException {
        ZMTPSocket pull = sockets.open(PULL);
        String endpoint = TestSockets.bind(pull, "tcp://127.0.0.1:*");
        Path file = Files.write(directory.resolve("file"), new byte[] {'a', '\n', 'b'});

        assertThat(run("", "push", "-D", "1", "-D", "2", endpoint).code()).isEqualTo(ExitCode.OK);
        assertThat(TestSockets.receive(pull)).containsExactly("1", "2");
        assertThat(run("", "push", "-F", file.toString(), endpoint).code()).isEqualTo(ExitCode.OK);
        assertThat(TestSockets.receive(pull)).containsExactly("a\nb");
    }

    @Test
    void whatCouldNotBeDeliveredIsAFailure() {
        CommandRun push = run("", "push", "-q", "-l", "10ms", "-D", "lost", "tcp://127.0.0.1:1");

        assertThat(push).isEqualTo(new CommandRun(ExitCode.FAILED, "", "zmtp: 1 messages were not delivered\n"));
    }

    @Test
    void aServerOfPlainAcceptsItsUsers(@TempDir Path files) throws Exception {
        Path users = Files.writeString(files.resolve("users"), "bob:other\n\n# a comment: x\nada:sec:ret\n");
        String endpoint = "ipc://" + files.resolve("rep");
        CompletableFuture<CommandRun> server =
                begin("", "rep", "--echo", "--users", users.toString(), "-n", "1", "-w", "20s", "-b", endpoint);
        ZMTPSocket req =
                sockets.open(sockets.builder(REQ).codec(codec -> codec.mechanism(ZMTPPlain.client("ada", "sec:ret"))));
        req.connect(endpoint);

        req.send(TestSockets.message("hello"));

        assertThat(TestSockets.receive(req)).containsExactly("hello");
        assertThat(TestSockets.get(server).code()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"secret", ":secret", "ada:", "bob:secret"})
    void aLineThatIsNoUserIsNotPrinted(String line, @TempDir Path files) throws IOException {
        Path users = Files.writeString(files.resolve("users"), "bob:other\n# a comment\n" + line + "\n");

        CommandRun failed = run("", "rep", "--users", users.toString(), "-b", "tcp://127.0.0.1:*");

        assertThat(failed.errors())
                .isEqualTo("zmtp: --users " + users
                        + ": line 3 (expected: NAME:PASSWORD, with another name in each line)\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "nonsense",
                "sub",
                "sub --nonsense tcp://:1",
                "sub -w 5 tcp://:1",
                "sub -n 0 tcp://:1",
                "sub -f xml tcp://:1",
                "pull -t topic tcp://:1",
                "dish tcp://:1",
                "radio -D x tcp://:1",
                "push -D x -F y tcp://:1",
                "req --user ada tcp://:1",
                "rep --allow-any -b tcp://:1",
                "rep --key k -b tcp://:1",
                "req --ca file tcp://:1",
                "rep --user ada -b tcp://:1",
                "req --users file tcp://:1",
                "rep --users file --password-file file -b tcp://:1",
                "rep --users file --user ada -b tcp://:1",
                "rep --users file --allow-any --key k -b tcp://:1",
                "proxy --user ada --frontend router=tcp://:1 --backend dealer=tcp://:1",
                "req --tls --cert file tcp://:1",
                "req --tls --insecure --ca file tcp://:1",
                "rep --echo -D x -b tcp://:1",
                "pub --origin nonsense -b ws://:1/",
                "rep --to worker -b tcp://:1",
                "router --to 0x1 -b tcp://:1",
                "router --to 0x -b tcp://:1",
                "router --to worker --echo -b tcp://:1",
                "req --raw-frames tcp://:1",
                "pair -D x -F y tcp://:1",
                "push -D \uFFFD tcp://:1",
                "ping -b tcp://:1 tcp://:1",
                "perf client --sockets 2 --capture file tcp://:1",
                "ping",
                "ping --as nothing tcp://:1",
                "proxy --frontend router --backend dealer=tcp://:1",
                "perf",
                "perf client --rate 0 tcp://:1",
                "perf pingpong --size 0 tcp://:1",
            })
    void wrongUsageIsOneLine(String line) {
        CommandRun wrong = run("", line.isEmpty() ? new String[0] : line.split(" "));

        assertThat(wrong.code()).as(wrong.errors()).isEqualTo(ExitCode.USAGE);
        assertThat(wrong.output()).isEmpty();
        assertThat(wrong.errors()).startsWith("zmtp: ").containsOnlyOnce("\n").endsWith("\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sub tcp://nobody",
                "sub nonsense",
                "sub -b tcp://192.0.2.1:1",
                "push -F no-such-file tcp://127.0.0.1:1",
                "req --server-key nonsense tcp://127.0.0.1:1",
                "req --server-key @no-such-file tcp://127.0.0.1:1",
                "rep --key no-such-file --allow-any -b tcp://127.0.0.1:*",
                "req --user ada --password-file no-such-file tcp://127.0.0.1:1",
                "rep --users no-such-file -b tcp://127.0.0.1:*",
                "proxy --users no-such-file --frontend router=tcp://127.0.0.1:* --backend dealer=tcp://127.0.0.1:*",
                "req --tls --ca no-such-file tcp://127.0.0.1:1",
                "sub --capture no-such-directory/file tcp://127.0.0.1:1",
            })
    void whatDoesNotWorkIsOneLine(String line) {
        CommandRun failed = run("", line.split(" "));

        assertThat(failed.code()).as(failed.errors()).isEqualTo(ExitCode.FAILED);
        assertThat(failed.errors()).startsWith("zmtp: ").containsOnlyOnce("\n").endsWith("\n");
    }

    @Test
    void aLineInAnotherFormatIsNamedAndThoseBeforeItAreDelivered() {
        ZMTPSocket pull = sockets.open(PULL);
        String endpoint = TestSockets.bind(pull, "tcp://127.0.0.1:*");

        CommandRun push = run("[\"a\"]\nnonsense\n", "push", "-f", "json", endpoint);

        assertThat(TestSockets.receive(pull)).containsExactly("a");
        assertThat(push.code()).isEqualTo(ExitCode.FAILED);
        assertThat(push.errors()).startsWith("zmtp: line 2 of the input: ");
    }

    @Test
    @Tag("T122")
    void keysAreNewFilesThatOnlyTheirOwnerReads() throws IOException {
        assumeTrue(FileSystems.getDefault().supportedFileAttributeViews().contains("posix"));
        String name = directory.resolve("server").toString();

        CommandRun first = run("", "keygen", name);
        CommandRun second = run("", "keygen", name);

        Path secret = Path.of(name + ".key_secret");
        ZMTPCurveKeyPair keys = ZMTPCurveKeyPair.load(secret);
        assertThat(first).isEqualTo(new CommandRun(ExitCode.OK, keys.publicKey().z85() + "\n", ""));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(secret)))
                .isEqualTo("rw-------");
        assertThat(second.code()).isEqualTo(ExitCode.FAILED);
        assertThat(second.errors()).startsWith("zmtp: the file exists: ");
        assertThat(ZMTPCurveKeyPair.load(secret).publicKey()).isEqualTo(keys.publicKey());
    }

    @ParameterizedTest
    @EnumSource(names = {"PUB", "ROUTER", "RADIO", "SERVER"})
    void pingNamesThePeer(ZMTPSocketType type) {
        CommandRun ping = run("", "ping", bound(type));

        assertThat(ping.errors()).isEmpty();
        assertThat(ping.output())
                .contains(": ZMTP 3.1, NULL, " + type + "; connect ")
                .contains(", handshake ")
                .contains(", ping ");
        assertThat(ping.code()).isEqualTo(ExitCode.OK);
    }

    @Test
    @Tag("T119")
    void pingSaysWhyAPeerRefuses() throws IOException {
        ZMTPCurveKeyPair keys = ZMTPCurveKeyPair.generate();
        ZMTPSocket router = sockets.open(sockets.builder(ROUTER)
                .codec(codec -> codec.mechanism(ZMTPCurve.server(keys)).authenticator(ZMTPAuthenticator.acceptAll())));
        String curve = TestSockets.bind(router, "tcp://127.0.0.1:*");
        String otherKey = ZMTPCurveKeyPair.generate().publicKey().z85();

        CommandRun right = run("", "ping", "--server-key", keys.publicKey().z85(), curve);
        CommandRun wrong = run("", "ping", "--server-key", otherKey, curve);
        CommandRun without = run("", "ping", curve);
        CommandRun nobody = run("", "ping", "tcp://127.0.0.1:1");

        assertThat(right.output()).contains(": ZMTP 3.1, CURVE, ROUTER; connect ");
        assertThat(wrong.errors())
                .contains("wrong server key, or a key that is not allowed?")
                .containsOnlyOnce("\n");
        assertThat(without.errors()).contains("mechanism").containsOnlyOnce("\n");
        assertThat(nobody.errors()).contains("Connection refused").containsOnlyOnce("\n");
        assertThat(wrong.code()).isEqualTo(ExitCode.FAILED);
        assertThat(without.code()).isEqualTo(ExitCode.FAILED);
        assertThat(nobody.code()).isEqualTo(ExitCode.FAILED);
    }

    @Test
    void aKeyCanBeginWithTheSignOfAFile() {
        String key = "@4Oa^eEIE&sxD8f9Hm0GcUK{EZE&B0&NL.ExwGWr";

        CommandRun req = run("", "req", "--server-key", key, "-w", "10ms", "tcp://127.0.0.1:1");
        CommandRun file = run("", "req", "--server-key", key + "s", "-w", "10ms", "tcp://127.0.0.1:1");

        assertThat(req.errors()).doesNotContain("file");
        assertThat(file.errors()).contains("no such file: " + key.substring(1));
    }

    @Test
    void aKeyCanBeginLikeAnOption() {
        String key = "-c1/e=lSr(p+Tg=[@VhPa:R[0Nx>c3>E[Cs:mo&G";

        CommandRun req = run("hello\n", "req", "--server-key", key, "-w", "10ms", "tcp://127.0.0.1:1");

        assertThat(req.errors()).doesNotContain(key);
        assertThat(req.code()).isEqualTo(ExitCode.TIMEOUT);
    }

    @Test
    void pingWaitsForAMutePeerAsLongAsItIsTold() throws IOException {
        try (ServerSocket mute = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            CommandRun ping = run("", "ping", "-w", "300ms", "tcp://127.0.0.1:" + mute.getLocalPort());

            assertThat(ping.code()).isIn(ExitCode.FAILED, ExitCode.TIMEOUT);
            assertThat(ping.errors()).startsWith("zmtp: tcp://127.0.0.1:").containsOnlyOnce("\n");
        }
    }

    @Test
    void aCaptureIsPrinted() {
        ZMTPSocket pull = sockets.open(PULL);
        String endpoint = TestSockets.bind(pull, "tcp://127.0.0.1:*");
        String file = directory.resolve("traffic.pcapng").toString();
        run("one\ttwo\n", "push", "-I", "ada", "--capture", file, endpoint);

        CommandRun dump = run("", "dump", "-f", "json", file);

        assertThat(dump.errors()).isEmpty();
        assertThat(dump.output().lines())
                .satisfiesExactly(
                        up -> assertThat(up).matches("\\d\\.\\d{6} #1 up: " + endpoint + ", PUSH, peer PULL"),
                        sent -> assertThat(sent).matches("\\d\\.\\d{6} #1 > \\[\"one\",\"two\"\\]"),
                        down -> assertThat(down).endsWith("#1 down"));
    }

    @Test
    void aCaptureThatHasLostPacketsIsAFailure() {
        ZMTPSocket pull = sockets.open(PULL);
        String endpoint = TestSockets.bind(pull, "tcp://127.0.0.1:*");
        String file = directory.resolve("incomplete.pcapng").toString();
        String message = ("x".repeat(250_000) + "\t").repeat(80); // more than the queue of a capture

        CommandRun push = run(message + "\n", "push", "--capture", file, endpoint);

        assertThat(push.code()).isEqualTo(ExitCode.FAILED);
        assertThat(push.errors()).contains("--capture " + file + ": ").contains("packets were dropped");
    }

    @Test
    void aFileThatIsNoCaptureIsNamed() throws IOException {
        Path file = Files.writeString(directory.resolve("text"), "no capture, but long enough for a header");

        CommandRun dump = run("", "dump", file.toString());

        assertThat(dump.code()).isEqualTo(ExitCode.FAILED);
        assertThat(dump.errors()).startsWith("zmtp: " + file + ": ").containsOnlyOnce("\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ipc:///tmp/x", "tcp://127.0.0.1", "5555"})
    void anEndpointThatCannotBeForwardedIsNamed(String endpoint) {
        CommandRun dump = run("", "dump", "-b", "tcp://127.0.0.1:*", endpoint);

        assertThat(dump.code()).isEqualTo(ExitCode.USAGE);
        assertThat(dump.errors()).startsWith("zmtp: endpoint: " + endpoint).containsOnlyOnce("\n");
    }

    @Test
    void everyCommandHasHelpWithExamples() {
        for (ZMTPSocketType type : ZMTPSocketType.values()) {
            CommandRun help = run("", type.name().toLowerCase(Locale.ROOT), "--help");

            assertThat(help.code()).isEqualTo(ExitCode.OK);
            assertThat(help.output()).contains("Usage: zmtp ").contains("Examples:");
        }
    }
}
