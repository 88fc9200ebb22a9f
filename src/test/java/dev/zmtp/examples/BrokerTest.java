package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.SUB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What passes the broker. */
class BrokerTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String ANY_PORT = "tcp://127.0.0.1:*";

    private final List<ZMTPSocket> sockets = new ArrayList<>();

    private ZMTPSocket open(ZMTPSocketType type) {
        ZMTPSocket socket = ZMTPSocket.of(type);
        sockets.add(socket);
        return socket;
    }

    @AfterEach
    void closeAll() {
        sockets.forEach(socket -> socket.closeAsync(Duration.ZERO).join());
    }

    @Test
    void clientsGetAnswersOfServicesAndAWatcherSeesThem() throws InterruptedException {
        try (Broker broker = new Broker()) {
            ZMTPSocket watcher = open(SUB);
            ZMTPSocket service = open(REP);
            ZMTPSocket client = open(REQ);
            watcher.subscribe("");
            watcher.connect(Broker.bind(broker.watchers(), ANY_PORT));
            broker.watchers().whenPeers(1).join();
            service.serve(request -> request.reply(ZMTPMessage.fromUTF8("well")));
            service.connect(Broker.bind(broker.services(), ANY_PORT));
            client.connect(Broker.bind(broker.clients(), ANY_PORT));

            ZMTPMessage answer = client.requestAsync(ZMTPMessage.fromUTF8("how are you?"), PATIENCE)
                    .join();

            assertThat(answer.toString()).isEqualTo("ZMTPMessage{[\"well\"]}");
            answer.release();
            for (String data : new String[] {"how are you?", "well"}) {
                ZMTPMessage seen = watcher.receive(PATIENCE);
                assertThat(seen.toString()).contains(data);
                seen.release();
            }
            assertThat(broker.proxy().stats().backend().messagesReceived()).isEqualTo(1);
        }
    }

    @Test
    void itIsSteeredByCommands() {
        try (Broker broker = new Broker()) {
            assertThat(broker.execute("pause")).isTrue();
            assertThat(broker.execute("resume")).isTrue();
            assertThat(broker.execute("quit")).isFalse();
        }
    }
}
