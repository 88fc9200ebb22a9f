package dev.zmtp.capture;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.CapturedFile;
import dev.zmtp.testing.Programs;
import dev.zmtp.testing.TestSockets;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Captures of sockets over real transports, read by others' programs. */
class CaptureFilesIT {

    private static final int LONG = 200_000;

    @TempDir
    private Path folder;

    /** A ROUTER that answers a DEALER, which sends a long frame. Returns the file. */
    private Path conversation(String endpoint, boolean encrypted) throws IOException, InterruptedException {
        Path file = folder.resolve("f.pcapng");
        ZMTPCurveKeyPair keys = ZMTPCurveKeyPair.generate();
        try (ZMTPCapture capture = ZMTPCapture.open(file)) {
            try (TestSockets sockets = new TestSockets()) {
                ZMTPSocket router =
                        sockets.open(sockets.builder(ROUTER).capture(capture).codec(codec -> {
                            if (encrypted) {
                                codec.mechanism(ZMTPCurve.server(keys)).authenticator(ZMTPAuthenticator.acceptAll());
                            }
                        }));
                router.serve(request -> request.reply(message("the answer")));
                ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).codec(codec -> {
                    if (encrypted) {
                        codec.mechanism(ZMTPCurve.client(keys.publicKey(), ZMTPCurveKeyPair.generate()));
                    }
                }));
                dealer.connect(bind(router, endpoint));
                ZMTPMessage question = ZMTPMessage.fromUTF8("the question", "x".repeat(LONG));
                get(dealer.requestAsync(question, TestSockets.PATIENCE)).release();
            }
        }
        return file;
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp://127.0.0.1:*", "tcp://[::1]:*", "ipc:///FOLDER/s", "shm:///FOLDER/s", "inproc://s"})
    @Tag("T95")
    @Tag("tshark")
    @Tag("linux")
    void tsharkReadsTheCaptureOfEachTransport(String endpoint) throws IOException, InterruptedException {
        Path file = conversation(endpoint.replace("/FOLDER", folder.toString()), false);

        String expert = Programs.run("tshark", "-r", file.toString(), "-q", "-z", "expert,warn");
        String flags = Programs.run("tshark", "-r", file.toString(), "-Y", "tcp.analysis.flags || _ws.malformed");
        String names = Programs.run("tshark", "-r", file.toString(), "-T", "fields", "-e", "frame.interface_name");
        String stream = Programs.run("tshark", "-r", file.toString(), "-q", "-z", "follow,tcp,raw,0");

        assertThat(lines(expert)).doesNotContain("Warns", "Errors");
        assertThat(lines(flags)).isBlank();
        assertThat(names).contains(endpoint.substring(0, endpoint.indexOf("://")) + "://");
        String hex = stream.replaceAll("[^0-9a-f\n]", "").replace("\n", "").toLowerCase(Locale.ROOT);
        assertThat(hex)
                .contains(hex("\0\14the question").substring(4)) // after its flags, which say that more follows
                .contains(hex("x".repeat(LONG)))
                .contains(hex("the answer"));
    }

    /** Without what tshark says about its user. */
    private static String lines(String printed) {
        return String.join(
                "\n",
                Arrays.stream(printed.split("\n"))
                        .filter(line -> !line.startsWith("Running as user"))
                        .toList());
    }

    private static String hex(String text) {
        return ByteBufUtil.hexDump(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    @Test
    @Tag("T96")
    @Tag("wireshark")
    void wiresharkShowsTheTypesAndTheTextOfACurveConnection() throws IOException, InterruptedException {
        Path file = conversation("tcp://127.0.0.1:*", true);
        String endpoint = CapturedFile.read(file).interfaces.get(0).replaceFirst(": ROUTER, bound$", "");
        String port = endpoint.substring(endpoint.lastIndexOf(':') + 1);

        String shown = Programs.run(
                "node",
                Path.of("src", "test", "resources", "capture", "dissect.cjs").toString(),
                Programs.NODE_MODULES.toString(),
                file.toString(),
                port);

        assertThat(shown)
                .contains(endpoint + ": ZMTP31, CURVE")
                .containsPattern("Metadata key: Socket-Type\\n *Metadata value: DEALER")
                .containsPattern("Metadata key: Socket-Type\\n *Metadata value: ROUTER")
                .contains("the question")
                .contains("the answer")
                .doesNotContain("Malformed");
    }

    @Test
    @Tag("T103")
    @Tag("tshark")
    void theFileOfAKilledProcessIsReadUpToItsLastBlock() throws IOException, InterruptedException {
        Path file = conversation("inproc://s", false);
        byte[] bytes = Files.readAllBytes(file);
        int whole = CapturedFile.read(file).packets.size();
        Path cut = folder.resolve("cut.pcapng");
        int statistics = 64; // and the last byte of the last packet
        Files.write(cut, Arrays.copyOf(bytes, bytes.length - statistics - 1));

        String numbers = Programs.run("tshark", "-r", cut.toString(), "-T", "fields", "-e", "frame.number");

        assertThat(numbers).contains("\n" + (whole - 1) + "\n").doesNotContain("\n" + whole + "\n");
    }
}
