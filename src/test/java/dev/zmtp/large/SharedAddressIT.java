package dev.zmtp.large;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Clients that share their address, far away, with more connections that never finish a handshake than an address may
 * have. All settings are the defaults, but for the time that a handshake may take: nobody gets in because it is over.
 */
@Tag("slow")
@Tag("large")
class SharedAddressIT {

    private static final int CLIENTS = Size.of(100, 1_000);
    private static final int UNFINISHED = Size.of(1_100, 1_500);
    private static final Duration ONE_WAY = Duration.ofMillis(100);

    @Test
    void allHonestClientsGetInBesideHandshakesThatAreNeverFinished(TestSockets sockets) throws IOException {
        ZMTPSocket server = sockets.open(
                sockets.builder(ROUTER).codec(codec -> codec.handshakeTimeout(Size.PATIENCE.multipliedBy(2))));
        server.serve(request -> request.reply(request.message()));
        String endpoint = bind(server, "tcp://127.0.0.1:*");
        try (Forwarder line = new Forwarder(endpoint);
                UnfinishedHandshakes unfinished = new UnfinishedHandshakes(sockets.group(), endpoint, UNFINISHED)) {
            line.delay(ONE_WAY);
            await("more than an address may have", () -> unfinished.ends() > 0);
            long start = System.nanoTime();
            List<CompletableFuture<ZMTPMessage>> answers = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                ZMTPSocket client = sockets.open(DEALER);
                client.connect(line.endpoint());
                answers.add(client.requestAsync(message("client " + i), Size.PATIENCE));
            }

            for (int i = 0; i < CLIENTS; i++) {
                assertThat(TestSockets.frames(answers.get(i).join())).containsExactly("client " + i);
            }
            assertThat(server.peers()).hasSize(CLIENTS);
            Size.report(
                    start,
                    "%,d clients are in beside %,d unfinished handshakes, of which the server ended %,d"
                            .formatted(CLIENTS, UNFINISHED, unfinished.ends()));
        }
    }
}
