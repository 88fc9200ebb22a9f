package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.examples.RoutingServer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.JavaProcess;
import dev.zmtp.testing.OwnHost;
import dev.zmtp.testing.TestSockets;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A client and a server in two processes, which begin in either order; the server is killed between two questions. */
@SuppressWarnings("try") // processes that only run
class AskAndAnswerIT {

    private static final List<String> OPTIONS = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    /** Asks one question after the other, and says what became of each. */
    public static final class Client {

        private Client() {}

        /** Asks the server at the endpoint until it is killed. */
        public static void main(String... args) throws InterruptedException {
            try (ZMTPSocket dealer = ZMTPSocket.of(ZMTPSocketConfig.builder(ZMTPSocketType.DEALER)
                    .reconnectDelay(Duration.ofMillis(50), Duration.ofMillis(500))
                    .build())) {
                dealer.connect(args[0]);
                for (int i = 0; true; i++) {
                    try {
                        ZMTPMessage answer = dealer.request(ZMTPMessage.fromUTF8("" + i), Duration.ofMillis(500));
                        System.out.println(answer.frameUTF8(0));
                        answer.release();
                    } catch (ZMTPSocketException e) {
                        System.out.println(e.reason());
                    }
                    Thread.sleep(10);
                }
            }
        }
    }

    private static JavaProcess client(String endpoint) throws IOException {
        return new JavaProcess(JavaProcess.command(OPTIONS, Client.class, endpoint));
    }

    private static JavaProcess server(String endpoint) throws IOException, InterruptedException {
        JavaProcess server = new JavaProcess(JavaProcess.command(OPTIONS, RoutingServer.class, endpoint));
        server.line(); // what it is
        assertThat(server.line()).isEqualTo(endpoint);
        return server;
    }

    private static String freeEndpoint() throws IOException {
        return "tcp://" + OwnHost.of(6) + ":" + TestSockets.freePort();
    }

    /** Waits for the next line that begins like this. */
    private static void await(JavaProcess client, String beginning) throws InterruptedException {
        while (!client.line().startsWith(beginning)) {
            // another one
        }
    }

    @Test
    void aClientThatIsThereFirstIsAnsweredWhenTheServerComes() throws IOException, InterruptedException {
        String endpoint = freeEndpoint();
        try (JavaProcess client = client(endpoint)) {
            await(client, "TIMEOUT");
            try (JavaProcess server = server(endpoint)) {
                await(client, "you said: ");
            }
        }
    }

    @Test
    void theQuestionsGoOnAfterTheServerWasKilledAndStartedAgain() throws IOException, InterruptedException {
        String endpoint = freeEndpoint();
        try (JavaProcess first = server(endpoint);
                JavaProcess client = client(endpoint)) {
            await(client, "you said: ");
            first.kill();
            await(client, "TIMEOUT"); // while there is no server
            try (JavaProcess second = server(endpoint)) {
                await(client, "you said: ");
            }
        }
    }
}
