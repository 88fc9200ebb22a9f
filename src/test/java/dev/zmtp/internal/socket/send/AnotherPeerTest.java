package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.socket.ZMTPSocketException.Reason.UNROUTABLE;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.events;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRequest;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import dev.zmtp.socket.ZMTPSocketEvent.Dropped;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A connected ROUTER whose peer leaves, and another peer that binds the endpoint then. */
class AnotherPeerTest {

    private static final int LIMIT = 10;

    private ZMTPSocket router;
    private ZMTPSocket first;
    private ZMTPPeer firstPeer;
    private String endpoint;

    /** Connects the router to a DEALER with the identity "first", which has sent a message. */
    private void connectToTheFirst(TestSockets sockets) {
        router = sockets.open(sockets.builder(ROUTER).sendQueueLimit(LIMIT, 1 << 20));
        first = named(sockets, "first");
        endpoint = bind(first, "tcp://127.0.0.1:*");
        firstPeer = connect(router, endpoint);
        get(first.sendAsync(message("", "from the first")));
        await("it has arrived", () -> router.stats().received() == 1);
    }

    private static ZMTPSocket named(TestSockets sockets, String identity) {
        return sockets.open(sockets.builder(DEALER).codec(codec -> codec.localIdentity(identity)));
    }

    private ZMTPSocket takesTheEndpoint(TestSockets sockets, String identity) {
        ZMTPSocket another = named(sockets, identity);
        bind(another, endpoint);
        return another;
    }

    private void fillTheQueue() {
        for (int i = 0; i < LIMIT; i++) {
            router.sendAsync(message("first", "fills the queue"));
        }
        // the statistics of the socket also count what is still on its way to the queue
        await("it is full", () -> firstPeer.stats().queued() == LIMIT);
    }

    private void theFirstLeaves() {
        get(first.closeAsync(Duration.ZERO));
        await("the end", () -> router.peers().stream().noneMatch(TestSockets::isUp));
    }

    @ParameterizedTest
    @ValueSource(strings = {"second", ""})
    void messagesForAPeerAreNotSentToAnother(String identity, TestSockets sockets) {
        connectToTheFirst(sockets);
        theFirstLeaves();
        CompletableFuture<Void> queued = router.sendAsync(message("first", "for the first"));
        TestSockets.Events events = events(router);

        ZMTPSocket second = takesTheEndpoint(sockets, identity);

        assertThat(reason(queued)).isEqualTo(PEER_DOWN);
        assertThat(events.next(Dropped.class).reason()).isEqualTo(DropReason.PEER_DOWN);
        get(second.sendAsync(message("from the second")));
        assertThat(receive(router)).endsWith("from the second").doesNotContain("first");
        get(TestSockets.peer(router).sendAsync(message("for the second")));
        assertThat(receive(second)).containsExactly("for the second");
        assertThat(reason(router.sendAsync(message("first", "late")))).isEqualTo(UNROUTABLE);
    }

    /** It is read although the queue was full for its predecessor. */
    @Test
    void theMessagesOfAnotherPeerAreReceived(TestSockets sockets) {
        connectToTheFirst(sockets);
        theFirstLeaves();
        fillTheQueue();

        ZMTPSocket second = takesTheEndpoint(sockets, "second");
        get(second.sendAsync(message("from the second")));

        await("it has arrived", () -> router.stats().received() == 2);
        assertThat(receive(router)).containsExactly("second", "from the second");
    }

    @Test
    void anAnswerIsNotSentToAnotherPeer(TestSockets sockets) {
        connectToTheFirst(sockets);
        List<ZMTPRequest> requests = new CopyOnWriteArrayList<>();
        router.serve(requests::add);
        await("the request", () -> requests.size() == 1);
        theFirstLeaves();
        ZMTPSocket second = takesTheEndpoint(sockets, "second");
        get(router.whenPeers(1));

        assertThat(requests.get(0).reply(message("answer"))).isFalse();

        get(second.sendAsync(message("", "question")));
        await("the next request", () -> requests.size() == 2);
        assertThat(requests.get(1).reply(message("another answer"))).isTrue();
        assertThat(receive(second)).containsExactly("", "another answer");
    }

    @Test
    void aThreadThatWaitsForAPeerDoesNotSendToAnother(TestSockets sockets) throws InterruptedException {
        connectToTheFirst(sockets);
        theFirstLeaves();
        fillTheQueue();
        SendingThreads threads = new SendingThreads();
        CompletableFuture<Throwable> waits = threads.waiting(() -> router.send(message("first", "waits")));

        ZMTPSocket second = takesTheEndpoint(sockets, "second");

        SendingThreads.assertReason(get(waits), PEER_DOWN);
        get(router.sendAsync(message("second", "for the second")));
        assertThat(receive(second)).containsExactly("for the second");
    }

    @Test
    void anEndpointThatClosesDoesNotSendToAnother(TestSockets sockets) {
        connectToTheFirst(sockets);
        theFirstLeaves();
        CompletableFuture<Void> queued = router.sendAsync(message("first", "for the first"));
        router.connect(endpoint).close();

        ZMTPSocket second = takesTheEndpoint(sockets, "second");

        assertThat(reason(queued)).isEqualTo(PEER_DOWN);
        assertThat(second.stats().received()).isZero();
    }

    @Test
    void aReqGetsNothingThatWaitedForADealer(TestSockets sockets) {
        router = sockets.open(ROUTER);
        ZMTPSocket dealer = sockets.open(DEALER);
        endpoint = bind(dealer, "tcp://127.0.0.1:*");
        ZMTPPeer peer = connect(router, endpoint);
        get(dealer.closeAsync(Duration.ZERO));
        await("the end", () -> !TestSockets.isUp(peer));
        CompletableFuture<Void> queued = peer.sendAsync(message("", "for the dealer"));

        ZMTPSocket req = sockets.open(REQ);
        bind(req, endpoint);
        assertThat(reason(queued)).isEqualTo(PEER_DOWN);
        router.serve(request -> request.reply(message("answer")));
        get(req.whenPeers(1));

        assertThat(frames(get(req.requestAsync(message("question"), PATIENCE)))).containsExactly("answer");
    }
}
