package dev.zmtp.large;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.Forwarder;
import dev.zmtp.testing.TestSockets;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many clients behind one address, far away, whose server restarts. All settings are the defaults. */
@Tag("slow")
@Tag("large")
class RestartedServerIT {

    private static final int CLIENTS = Size.of(400, 1_000);
    private static final Duration ONE_WAY = Duration.ofMillis(100);

    @Test
    void allClientsComeBackAndNoneIsRefused(TestSockets sockets) throws IOException {
        ZMTPSocket first = server(sockets, new AtomicInteger());
        String endpoint = bind(first, "tcp://127.0.0.1:*");
        try (Forwarder line = new Forwarder(endpoint)) {
            line.delay(ONE_WAY);
            List<ZMTPSocket> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                ZMTPSocket client = sockets.open(DEALER);
                client.connect(line.endpoint());
                clients.add(client);
            }
            assertAllAreAnswered(clients);
            get(first.closeAsync(Duration.ZERO));
            await(
                    "the end of all connections",
                    () -> clients.stream().allMatch(client -> client.peers().isEmpty()));

            long start = System.nanoTime();
            AtomicInteger accepted = new AtomicInteger();
            bind(server(sockets, accepted), endpoint);

            assertAllAreAnswered(clients);
            assertThat(accepted).as("connections, one for each client").hasValue(CLIENTS);
            Size.report(start, "%,d clients are back after a restart".formatted(CLIENTS));
        }
    }

    private static ZMTPSocket server(TestSockets sockets, AtomicInteger accepted) {
        ZMTPSocket server = sockets.open(
                sockets.builder(ROUTER).pipelineInitializer((endpoint, pipeline) -> accepted.incrementAndGet()));
        server.serve(request -> request.reply(request.message()));
        return server;
    }

    private static void assertAllAreAnswered(List<ZMTPSocket> clients) {
        List<CompletableFuture<ZMTPMessage>> answers = new ArrayList<>();
        for (int i = 0; i < clients.size(); i++) {
            answers.add(clients.get(i).requestAsync(message("client " + i), Size.PATIENCE));
        }
        for (int i = 0; i < answers.size(); i++) {
            assertThat(TestSockets.frames(answers.get(i).join())).containsExactly("client " + i);
        }
    }
}
