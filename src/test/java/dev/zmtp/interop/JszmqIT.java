package dev.zmtp.interop;

import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.Programs;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.websocket.ZMTPWebSocket;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** jszmq on Node, which has no mechanism. */
@Tag("T130")
@Tag("jszmq")
class JszmqIT {

    private static final String SCRIPT = "src/test/resources/websocket/jszmq.cjs";

    private final TestSockets sockets = new TestSockets(1);
    private final List<Process> started = new ArrayList<>();

    @AfterEach
    void stop() {
        started.forEach(Process::destroyForcibly);
        sockets.close();
    }

    /** Starts a socket of jszmq, and returns what it prints. */
    private BufferedReader jszmq(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(
                List.of("node", SCRIPT, Programs.NODE_MODULES.toAbsolutePath().toString()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        started.add(process);
        return process.inputReader(StandardCharsets.UTF_8);
    }

    private String serving(ZMTPSocketType type) {
        ZMTPSocket socket = sockets.open(type);
        switch (type) {
            case ROUTER -> socket.onMessage((peer, message) -> peer.sendOrDrop(message));
            case REP -> socket.serve(request -> request.reply(request.message()));
            default -> socket.onSubscription((peer, topic) -> socket.sendOrDrop(message("news", "today")));
        }
        TestSockets.Events events = TestSockets.events(socket);
        String endpoint = TestSockets.bind(socket, "ws://127.0.0.1:*/");
        assertThat(events.next(ZMTPSocketEvent.Listening.class).endpoint()).isEqualTo(endpoint);
        return endpoint;
    }

    @ParameterizedTest
    @CsvSource({"dealer, ROUTER, hello", "req, REP, hello", "sub, PUB, news|today"})
    void itsClientsTalkToOurServers(String role, ZMTPSocketType type, String expected) throws IOException {
        BufferedReader lines = jszmq(role, serving(type));

        assertThat(lines.readLine()).isEqualTo("ready");
        assertThat(lines.readLine()).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"router, DEALER", "rep, REQ", "pub, SUB"})
    void ourBareClientsTalkToItsServers(String role, ZMTPSocketType type) throws IOException, InterruptedException {
        String endpoint = jszmq(role).readLine();
        ZMTPSocket client = sockets.open(sockets.builder(type).webSocket(ZMTPWebSocket.DEFAULT.bare(true)));
        if (type == SUB) {
            client.subscribe("news");
        }
        client.connect(endpoint);
        if (type != SUB) {
            client.send(message("news", "today"));
        }

        assertThat(TestSockets.receive(client)).containsExactly("news", "today");
        assertThat(TestSockets.peer(client).socketType()).isNull();
    }
}
