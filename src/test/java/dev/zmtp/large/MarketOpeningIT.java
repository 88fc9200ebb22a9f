package dev.zmtp.large;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.JavaProcess;
import dev.zmtp.testing.TestSockets;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server with little memory, and many clients that all ask at the same moment. */
@Tag("slow")
@Tag("large")
@Tag("linux") // signals
class MarketOpeningIT {

    private static final int CLIENTS = Size.of(1_500, 3_000);
    private static final int MEGABYTES = Size.of(32, 64);

    /** Together 60 KB, which the kernel keeps until the server reads. */
    private static final int QUESTIONS = 60;

    private static final String QUESTION = "q".repeat(1_000);

    private static List<String> command() {
        List<String> memory = List.of("-Xmx" + MEGABYTES + "m", "-XX:MaxDirectMemorySize=" + MEGABYTES + "m");
        return JavaProcess.command(memory, SmallServer.class);
    }

    /** The server is stopped meanwhile, so that it finds the questions of all clients at once. */
    @Test
    void aSmallServerAnswersAllClientsThatAskAtOnce(TestSockets sockets) throws Exception {
        AtomicInteger answers = new AtomicInteger();
        AtomicInteger ends = new AtomicInteger();
        try (JavaProcess server = new JavaProcess(command())) {
            String endpoint = server.line();
            List<ZMTPSocket> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                ZMTPSocket client = sockets.open(DEALER);
                client.onEvent(Runnable::run, event -> countEnd(event, ends));
                client.onMessage((peer, answer) -> {
                    answer.release();
                    answers.incrementAndGet();
                });
                client.connect(endpoint);
                clients.add(client);
            }
            clients.forEach(client -> get(client.whenPeers(1)));
            signal(server, "STOP");
            for (ZMTPSocket client : clients) {
                for (int i = 0; i < QUESTIONS; i++) {
                    client.sendOrDrop(message(QUESTION));
                }
            }
            await(
                    "all questions are written",
                    () -> clients.stream().allMatch(client -> client.stats().written() == QUESTIONS));
            long start = System.nanoTime();
            signal(server, "CONT");

            int all = CLIENTS * QUESTIONS;
            await("the answers, or an end", () -> answers.get() == all || ends.get() > 0);

            assertThat(ends).hasValue(0);
            assertThat(answers).hasValue(all);
            assertThat(server.endsWithin(Duration.ZERO)).isFalse();
            Size.report(start, "%,d clients have %,d answers of a server of %d MB".formatted(CLIENTS, all, MEGABYTES));
        }
    }

    private static void countEnd(ZMTPSocketEvent event, AtomicInteger ends) {
        if (event instanceof ZMTPSocketEvent.PeerDown) {
            ends.incrementAndGet();
        }
    }

    private static void signal(JavaProcess process, String name) throws IOException, InterruptedException {
        int exit = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .start()
                .waitFor();
        assertThat(exit).isZero();
    }
}
