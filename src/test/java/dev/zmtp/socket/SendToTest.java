package dev.zmtp.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.socket.TestSockets.bind;
import static dev.zmtp.socket.TestSockets.connect;
import static dev.zmtp.socket.TestSockets.frames;
import static dev.zmtp.socket.TestSockets.get;
import static dev.zmtp.socket.TestSockets.message;
import static dev.zmtp.socket.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Messages to one peer, which the application names by its object. */
class SendToTest {

    private static final String ANY_PORT = "tcp://127.0.0.1:*";

    @Test
    void aRouterAnswersAPeerWithoutItsName() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket router = sockets.open(ROUTER);
            router.onMessage((peer, request) -> {
                router.sendTo(peer, message("for", "you"));
                request.release();
            });
            ZMTPSocket dealer = sockets.open(DEALER);
            dealer.connect(bind(router, ANY_PORT));

            dealer.send(message("hello"));

            assertThat(receive(dealer)).containsExactly("for", "you");
        }
    }

    @Test
    void aNewSubscriberAloneGetsTheLastValueOfItsTopic() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket xpub = sockets.open(XPUB);
            xpub.onSubscription(
                    (peer, subscription) -> {
                        String topic = subscription.topic().toString(StandardCharsets.UTF_8);
                        xpub.writeTo(peer, message(topic, "last value"));
                    },
                    true);
            String endpoint = bind(xpub, ANY_PORT);
            ZMTPSocket first = sockets.open(SUB);
            first.subscribe("news");
            first.connect(endpoint);
            assertThat(receive(first)).containsExactly("news", "last value");
            ZMTPSocket second = sockets.open(SUB);
            second.subscribe("news");

            second.connect(endpoint);

            assertThat(receive(second)).containsExactly("news", "last value");
            get(xpub.send(message("news", "of today")));
            assertThat(receive(first)).as("what the first gets next").containsExactly("news", "of today");
        }
    }

    @Test
    void aPeerOfAnotherSocketIsRefusedAndTheMessageStaysTheCallers() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket router = sockets.open(ROUTER);
            ZMTPSocket dealer = sockets.open(DEALER);
            ZMTPPeer ofDealer = connect(dealer, bind(router, ANY_PORT));
            ZMTPMessage message = message("for", "whom?");

            assertThatIllegalArgumentException()
                    .isThrownBy(() -> router.sendTo(ofDealer, message))
                    .withMessageContaining("of another socket");
            assertThat(message.refCnt()).isEqualTo(1);
            message.release();
        }
    }

    @Test
    void aDealerHasNoPeerToChoose() {
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket router = sockets.open(ROUTER);
            ZMTPSocket dealer = sockets.open(DEALER);
            ZMTPPeer peer = connect(dealer, bind(router, ANY_PORT));
            ZMTPMessage message = message("for", "you");

            assertThatThrownBy(() -> dealer.sendTo(peer, message))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessage("sendTo: not with DEALER (expected: ROUTER, SERVER, PEER, PUB or XPUB)");
            message.release();
        }
    }

    /** More than the event loop sends in one turn. */
    @Test
    @Tag("netty-4.2-only")
    void whatAThreadSendsToAPeerComesAfterWhatItHasPublished() {
        try (VirtualTime time = new VirtualTime()) {
            int messages = 1_500;
            ZMTPSocket pub =
                    time.open(ZMTPSocketConfig.builder(PUB).sendLimit(ZMTPQueueLimit.ofMessages(2 * messages)));
            ZMTPSocket sub = time.open(ZMTPSocketConfig.builder(SUB));
            List<String> received = new ArrayList<>();
            sub.onMessage((from, message) -> received.addAll(frames(message)));
            sub.subscribe("");
            pub.bind("inproc://order");
            sub.connect("inproc://order");
            time.run();

            CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
                for (int i = 0; i < messages; i++) {
                    pub.write(message("published"));
                }
                pub.writeTo(pub.peers().get(0), message("last"));
            });
            get(sent);
            time.run();

            assertThat(received).hasSize(messages + 1).endsWith("last");
        }
    }
}
