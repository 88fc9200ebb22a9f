package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.capture.ZMTPCapture;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** A server whose traffic is captured in a file. */
public final class CapturedEcho {

    private CapturedEcho() {}

    /** Writes a new file in the folder for temporary files. */
    public static void main(String... args) throws IOException, InterruptedException {
        Path file = Files.createTempDirectory("capture").resolve("echo.pcapng");
        echo(file);
        System.out.println("Nothing to run beside it. Wireshark opens " + file);
    }

    /** Answers a request, and captures both. */
    static void echo(Path file) throws IOException, InterruptedException {
        try (ZMTPCapture capture = ZMTPCapture.open(file);
                ZMTPSocket server = ZMTPSocket.of(
                        ZMTPSocketConfig.builder(ROUTER).capture(capture).build())) {
            server.serve(request -> request.reply(request.message().copy()));
            String endpoint = server.bind("tcp://127.0.0.1:*").sync().text();
            try (ZMTPSocket client = ZMTPSocket.of(REQ)) {
                client.connect(endpoint);
                client.request(ZMTPMessage.fromUTF8("Ada"), Duration.ofSeconds(10))
                        .release();
            }
        }
    }
}
