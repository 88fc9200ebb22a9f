package dev.zmtp.internal.socket.request;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRequest;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.OtherThread;
import dev.zmtp.testing.TestSockets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Answers and other messages of one thread to the peer that has asked, in virtual time. */
@Tag("netty-4.2-only")
class AnswerOrderTest {

    private static final String ENDPOINT = "test://answers";

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final List<ZMTPRequest> requests = new ArrayList<>();
    private final List<String> received = new ArrayList<>();

    @BeforeEach
    void ask() {
        ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER).sendQueueLimit(2_000, 1 << 20));
        router.serve(requests::add);
        router.bind(ENDPOINT);
        ZMTPSocket dealer = loop.open(ZMTPSocketConfig.builder(DEALER));
        dealer.onMessage(
                (from, message) -> received.add(TestSockets.frames(message).get(1)));
        dealer.connect(ENDPOINT);
        loop.run();
        dealer.sendOrDrop(message("", "question"));
        loop.run();
    }

    @AfterEach
    void close() {
        loop.close();
    }

    private static void send(ZMTPPeer peer, String text) {
        assertThat(peer.trySend(message("", text))).isTrue();
    }

    @Test
    void theyKeepTheirOrder() throws Throwable {
        ZMTPRequest request = requests.get(0);

        OtherThread.call(() -> {
            send(request.peer(), "before");
            request.reply(message("answer"));
            send(request.peer(), "after");
        });
        loop.run();

        assertThat(received).containsExactly("before", "answer", "after");
    }

    /** In more tasks than one. */
    @Test
    void anAnswerFollowsManyMessages() throws Throwable {
        ZMTPRequest request = requests.get(0);

        OtherThread.call(() -> {
            for (int i = 0; i < 1_100; i++) {
                send(request.peer(), "before");
            }
            request.reply(message("answer"));
        });
        loop.run();

        assertThat(received).hasSize(1_101).last().isEqualTo("answer");
    }
}
