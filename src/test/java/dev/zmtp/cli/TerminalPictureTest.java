package dev.zmtp.cli;

import static dev.zmtp.ZMTPSocketType.REP;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The picture of a terminal session, which is made of what the commands print. {@code -Dpicture.update} writes it
 * again; otherwise it has the same lines, whatever the times are.
 */
class TerminalPictureTest {

    private static final Path PICTURE = Path.of("docs/cli.svg");
    private static final int LINE = 20;
    private static final int WIDTH = 1_220;

    @TempDir
    private Path directory;

    private final List<String> lines = new ArrayList<>();

    /** Runs a command, and notes it as a user would type it, with what it prints. */
    private void run(String input, String typed, String... arguments) {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream both = new PrintStream(printed, true, StandardCharsets.UTF_8);
        Main.run(new Console(new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)), both, both), arguments);
        lines.add("$ " + typed);
        printed.toString(StandardCharsets.UTF_8)
                .lines()
                .map(line -> line.replaceAll("127\\.0\\.0\\.1:\\d+", "10.0.0.7:5555"))
                .forEach(lines::add);
    }

    private static String svg(List<String> lines) {
        int height = LINE * lines.size() + 2 * LINE;
        StringBuilder svg = new StringBuilder(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + WIDTH
                        + "\" height=\"" + height + "\" role=\"img\" aria-label=\"A terminal session\">\n"
                        + "<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1e2430\"/>\n"
                        + "<g font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"14\" xml:space=\"preserve\">\n");
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            String text = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
            svg.append("<text x=\"16\" y=\"" + (LINE * (i + 1) + LINE / 2) + "\" fill=\""
                    + (line.startsWith("$ ") ? "#8fd18f" : "#d8dee9") + "\">" + text + "</text>\n");
        }
        return svg.append("</g>\n</svg>\n").toString();
    }

    private static String withoutTimes(String svg) {
        return svg.replaceAll("\\d+(\\.\\d+)? (ns|us|ms|s)\\b", "TIME");
    }

    @Test
    void thePictureHasTheLinesOfTheCommands() throws IOException {
        ZMTPCurveKeyPair keys = ZMTPCurveKeyPair.generate();
        try (TestSockets sockets = new TestSockets(1)) {
            ZMTPSocket rep = sockets.open(REP);
            rep.serve(request -> request.reply(request.message()));
            String endpoint = TestSockets.bind(rep, "tcp://127.0.0.1:*");
            ZMTPSocket curve = sockets.open(sockets.builder(REP)
                    .codec(codec ->
                            codec.mechanism(ZMTPCurve.server(keys)).authenticator(ZMTPAuthenticator.acceptAll())));
            String secured = TestSockets.bind(curve, "tcp://127.0.0.1:*");
            Path otherKey = directory.resolve("server.key");
            ZMTPCurveKeyPair.generate().publicKey().save(otherKey);
            String to = "tcp://10.0.0.7:5555";

            run("hello\n", "echo hello | zmtp req " + to, "req", endpoint);
            run("", "zmtp ping " + to, "ping", endpoint);
            run("", "zmtp ping --server-key @server.key " + to, "ping", "--server-key", "@" + otherKey, secured);
        }
        String svg = svg(lines);
        if (System.getProperty("picture.update") != null) {
            Files.writeString(PICTURE, svg);
        }

        assertThat(withoutTimes(Files.readString(PICTURE))).isEqualTo(withoutTimes(svg));
    }
}
