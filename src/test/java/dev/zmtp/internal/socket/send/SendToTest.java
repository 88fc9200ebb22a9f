package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages to one peer, which the application names by its object. */
class SendToTest {

    private static final String ANY_PORT = "tcp://127.0.0.1:*";

    @Test
    void aRouterAnswersAPeerWithoutItsName(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        router.onMessage((peer, request) -> {
            peer.sendAsync(message("for", "you"));
            request.release();
        });
        ZMTPSocket dealer = sockets.open(DEALER);
        dealer.connect(bind(router, ANY_PORT));

        dealer.sendAsync(message("hello"));

        assertThat(receive(dealer)).containsExactly("for", "you");
    }

    @Test
    void aNewSubscriberAloneGetsTheLastValueOfItsTopic(TestSockets sockets) {
        ZMTPSocket xpub = sockets.open(XPUB);
        xpub.onEverySubscription((peer, subscription) -> {
            String topic = subscription.topic().toString(StandardCharsets.UTF_8);
            peer.sendOrDrop(message(topic, "last value"));
        });
        String endpoint = bind(xpub, ANY_PORT);
        ZMTPSocket first = sockets.open(SUB);
        first.subscribe("news");
        first.connect(endpoint);
        assertThat(receive(first)).containsExactly("news", "last value");
        ZMTPSocket second = sockets.open(SUB);
        second.subscribe("news");

        second.connect(endpoint);

        assertThat(receive(second)).containsExactly("news", "last value");
        get(xpub.sendAsync(message("news", "of today")));
        assertThat(receive(first)).as("what the first gets next").containsExactly("news", "of today");
    }

    @Test
    void aDealerHasNoPeerToChoose(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPPeer peer = connect(dealer, bind(router, ANY_PORT));
        ZMTPMessage message = message("for", "you");

        assertThatThrownBy(() -> peer.sendAsync(message))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage("sendAsync: not with DEALER (expected: ROUTER, SERVER, PEER, PUB or XPUB)");
        assertThat(message.refCnt()).isZero();
    }

    /** More than the event loop sends in one turn. */
    @Test
    @Tag("netty-4.2-only")
    void whatAThreadSendsToAPeerComesAfterWhatItHasPublished() {
        try (ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            int messages = 1_500;
            ZMTPSocket pub = loop.open(ZMTPSocketConfig.builder(PUB).sendQueueLimit(2 * messages, 16 << 20));
            ZMTPSocket sub = loop.open(ZMTPSocketConfig.builder(SUB));
            List<String> received = new ArrayList<>();
            sub.onMessage((from, message) -> received.addAll(frames(message)));
            sub.subscribe("");
            pub.bind("inproc://order");
            sub.connect("inproc://order");
            loop.run();

            CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
                for (int i = 0; i < messages; i++) {
                    pub.sendOrDrop(message("published"));
                }
                pub.peers().iterator().next().sendOrDrop(message("last"));
            });
            get(sent);
            loop.run();

            assertThat(received).hasSize(messages + 1).endsWith("last");
        }
    }

    /** The socket's own thread and others see the same room. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aPeerTakesAsManyAsThereIsRoomForAndAllOfThemArrive(boolean onLoop, TestSockets sockets)
            throws InterruptedException {
        ZMTPSocket router = sockets.open(sockets.builder(ROUTER)
                .sendQueueLimit(5, 1 << 20)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(1, 2)));
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPPeer ofDealer = connect(dealer, bind(router, "inproc://room"));
        ofDealer.pauseReading();
        get(CompletableFuture.runAsync(() -> {}, dealer.eventLoop())); // it reads until then
        ZMTPPeer peer = TestSockets.peer(router);
        CompletableFuture<Integer> taken = new CompletableFuture<>();
        Runnable sends = () -> taken.complete(sendUntilFull(peer));
        if (onLoop) {
            router.eventLoop().execute(sends);
        } else {
            sends.run();
        }

        assertThat(get(taken)).isPositive();
        if (onLoop) { // otherwise the transport may take some more in the meantime
            assertThat(peer.isWritable()).isFalse();
        }
        ofDealer.resumeReading();

        for (int i = 0; i < get(taken); i++) {
            assertThat(receive(dealer)).containsExactly("m" + i);
        }
        await("room", peer::isWritable);
        assertThat(peer.stats().dropped() + router.stats().dropped()).isZero();
    }

    private static int sendUntilFull(ZMTPPeer peer) {
        for (int i = 0; true; i++) {
            ZMTPMessage message = message("m" + i);
            if (!peer.trySend(message)) {
                message.release();
                return i;
            }
        }
    }

    @Test
    void aPeerThatHasGoneTakesNothing(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPSocket dealer = sockets.open(DEALER);
        connect(dealer, bind(router, "inproc://gone"));
        ZMTPPeer peer = TestSockets.peer(router);
        get(dealer.closeAsync(Duration.ZERO));
        await("gone", () -> !TestSockets.isUp(peer));
        ZMTPMessage message = message("late");

        assertThat(peer.trySend(message)).isFalse();

        assertThat(message.release()).as("the caller's").isTrue();
        assertThat(peer.isWritable()).isFalse();
    }
}
