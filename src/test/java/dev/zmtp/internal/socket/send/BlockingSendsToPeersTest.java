package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.socket.ZMTPSocketException.Reason.TIMEOUT;
import static dev.zmtp.socket.ZMTPSocketException.Reason.UNROUTABLE;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.settle;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import io.netty.buffer.Unpooled;
import io.netty.util.IllegalReferenceCountException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Threads that send to one peer and wait for room in its queue. */
class BlockingSendsToPeersTest {

    private static final Duration SHORT = Duration.ofMillis(20);

    private final WriteGate gate = new WriteGate();
    private final SendingThreads threads = new SendingThreads();

    @AfterEach
    void open() throws InterruptedException {
        gate.open();
        threads.end();
    }

    @Test
    void aMessageToAPeerThatHasLeftIsRefusedWhateverTheSocketDoesWhenAQueueIsFull(TestSockets sockets) {
        ZMTPSocket pub = sockets.open(PUB);
        ZMTPSocket sub = sockets.open(SUB);
        connect(sub, bind(pub, "inproc://left"));
        ZMTPPeer peer = TestSockets.peer(pub);
        get(sub.closeAsync(Duration.ZERO));
        await("it has left", () -> pub.peers().isEmpty());
        ZMTPMessage message = message("m");

        assertThatThrownBy(() -> peer.send(message)).hasMessageContaining(PEER_DOWN.name());

        assertThat(message.refCnt()).isZero();
    }

    /** Messages to all have room on the way and wait for a place; messages to one peer would have the places. */
    @Test
    @Tag("netty-4.2-only")
    void messagesToAllAndToOnePeerDoNotWaitForEachOther() {
        try (ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            ZMTPSocket pub = loop.open(ZMTPSocketConfig.builder(PUB)
                    .overflowPolicy(OverflowPolicy.WAIT)
                    .pipelineInitializer(gate)
                    .sendQueueLimit(2, 1 << 20));
            pub.bind("test://both");
            ZMTPSocket sub = loop.open(ZMTPSocketConfig.builder(SUB));
            List<String> received = new ArrayList<>();
            sub.onMessage((from, message) -> received.add(WriteGate.text(message)));
            sub.subscribe("");
            sub.connect("test://both");
            loop.run();
            gate.close();
            for (ZMTPMessage message : List.of(WriteGate.big("big"), message("queued"), message("queued"))) {
                assertThat(pub.trySend(message)).isTrue();
                loop.run();
            }
            assertThat(get(threads.begin(() -> {
                        pub.send(message("to all"));
                        pub.send(message("to all"));
                    })))
                    .isNull();
            loop.run();
            ZMTPPeer peer = pub.peers().iterator().next();
            List<CompletableFuture<Throwable>> toPeer = new ArrayList<>();
            for (int i = 0; i < 4; i++) { // some hold places, and others wait for them
                toPeer.add(threads.waiting(() -> peer.send(message("to one"))));
            }
            loop.run();

            gate.open();

            await("all have arrived", () -> {
                loop.run();
                return received.size() == 9;
            });
            assertThat(toPeer).allSatisfy(sent -> assertThat(get(sent)).isNull());
            assertThat(received).startsWith("big", "queued", "queued").contains("to all", "to one");
        }
    }

    private ZMTPSocket fullRouter(TestSockets sockets, ZMTPSocket... dealers) throws InterruptedException {
        ZMTPSocket router =
                sockets.open(sockets.builder(ROUTER).pipelineInitializer(gate).sendQueueLimit(2, 1 << 20));
        String endpoint = bind(router, "tcp://127.0.0.1:*");
        for (ZMTPSocket dealer : dealers) {
            connect(dealer, endpoint);
        }
        await("all are there", () -> router.peers().size() == dealers.length);
        gate.close();
        ZMTPPeer ada = router.peer("ada");
        ada.send(WriteGate.big("0"));
        await("the transport has it", () -> ada.stats().sent() == 1);
        ada.send(message("1"));
        router.send(message("ada", "2"));
        return router;
    }

    private static ZMTPSocket named(TestSockets sockets, String name) {
        return sockets.open(sockets.builder(DEALER).codec(codec -> codec.localIdentity(name)));
    }

    @Test
    void eachPeerHasRoomOfItsOwn(TestSockets sockets) throws InterruptedException {
        ZMTPSocket ada = named(sockets, "ada");
        ZMTPSocket router = fullRouter(sockets, ada, named(sockets, "grace"));
        CompletableFuture<Throwable> named = threads.waiting(() -> router.send(message("ada", "3")));
        CompletableFuture<Throwable> direct =
                threads.waiting(() -> router.peer("ada").send(message("4")));
        router.send(message("grace", "hello"));
        SendingThreads.assertFails(TIMEOUT, () -> router.send(message("ada", "5"), SHORT));
        SendingThreads.assertFails(TIMEOUT, () -> router.peer("ada").send(message("6"), SHORT));

        gate.open();

        assertThat(get(named)).isNull();
        assertThat(get(direct)).isNull();
        List<String> received = new ArrayList<>();
        for (int i = 0; i <= 4; i++) {
            received.add(WriteGate.text(ada.receive(PATIENCE)));
        }
        assertThat(received).startsWith("0", "1", "2").containsExactlyInAnyOrder("0", "1", "2", "3", "4");
    }

    @Test
    void aThreadDoesNotWaitForAPeerThatHasLeft(TestSockets sockets) throws InterruptedException {
        ZMTPSocket ada = named(sockets, "ada");
        ZMTPSocket router = fullRouter(sockets, ada);
        ZMTPPeer peer = router.peer("ada");
        ZMTPMessage third = message("ada", "3");
        CompletableFuture<Throwable> waits = threads.waiting(() -> router.send(third));

        peer.close();
        TestSockets.settle(router); // or there is room before the peer has left
        gate.open();

        SendingThreads.assertReason(get(waits), PEER_DOWN);
        assertThat(third.refCnt()).isZero();
        SendingThreads.assertFails(PEER_DOWN, () -> peer.send(message("4")));
    }

    @Test
    void aCloseEndsThoseThatWaitForAPeer(TestSockets sockets) throws InterruptedException {
        ZMTPSocket router = fullRouter(sockets, named(sockets, "ada"));
        CompletableFuture<Throwable> waits = threads.waiting(() -> router.send(message("ada", "3")));

        router.closeAsync(Duration.ZERO);

        SendingThreads.assertReason(get(waits), CLOSED);
    }

    @Test
    void aTrySendDoesNotTakeThePlaceThatAThreadWaitsFor(TestSockets sockets) throws InterruptedException {
        ZMTPSocket router = fullRouter(sockets, named(sockets, "ada"));
        ZMTPPeer peer = router.peer("ada");
        router.resizeSendQueue(8, 1 << 20);
        await("it has room", peer::isWritable);
        for (int i = 3; i <= 8; i++) {
            peer.send(message("" + i));
        }
        await("it is full", () -> peer.stats().queued() == 8);
        CompletableFuture<Throwable> waits = threads.waiting(() -> peer.send(message("9")));

        router.resizeSendQueue(9, 1 << 20); // one place is less than a quarter
        settle(router);
        assertThat(waits).isNotDone();
        assertThat(peer.isWritable()).isFalse();
        ZMTPMessage other = message("other");
        assertThat(peer.trySend(other)).isFalse();
        ZMTPMessage named = message("ada", "other");
        CompletableFuture<Boolean> here =
                CompletableFuture.supplyAsync(() -> router.trySend(named), router.eventLoop());
        assertThat(get(here)).as("on the event loop").isFalse();
        CompletableFuture.runAsync(() -> peer.sendOrDrop(other), router.eventLoop())
                .join();
        assertThat(peer.stats().dropped()).as("on the event loop").isEqualTo(1);
        named.release();

        router.resizeSendQueue(10, 1 << 20);
        assertThat(get(waits)).isNull();
        await("there is room for others", peer::isWritable);
    }

    @Test
    void anActionIsCalledAfterAMessageWasRefusedThePlaceThatAThreadWaitsFor(TestSockets sockets)
            throws InterruptedException {
        ZMTPSocket router = fullRouter(sockets, named(sockets, "ada"));
        ZMTPPeer peer = router.peer("ada");
        router.resizeSendQueue(8, 1 << 20);
        AtomicInteger called = new AtomicInteger();
        peer.onWritable(called::incrementAndGet);
        await("it has room", () -> called.get() > 0);
        for (int i = 3; i <= 8; i++) {
            peer.send(message("" + i));
        }
        await("it is full", () -> peer.stats().queued() == 8);
        CompletableFuture<Throwable> waits = threads.waiting(() -> peer.send(message("9")));
        router.resizeSendQueue(9, 1 << 20); // one place is less than a quarter
        settle(router);
        int before = called.get();

        assertThat(TestSockets.reason(peer.sendAsync(message("other")))).isEqualTo(FULL);
        router.resizeSendQueue(20, 1 << 20);

        assertThat(get(waits)).isNull();
        await("it is called", () -> called.get() > before);
    }

    /** A message that can be retained elsewhere, of which the sender has released a frame. */
    @Test
    void aMessageThatCannotBeSentHoldsNoPlace(TestSockets sockets) throws InterruptedException {
        ZMTPSocket router = sockets.open(sockets.builder(ROUTER).sendQueueLimit(1, 1 << 20));
        connect(named(sockets, "ada"), bind(router, "tcp://127.0.0.1:*"));
        await("ada is there", () -> router.peer("ada") != null);
        ZMTPPeer ada = router.peer("ada");
        ZMTPMessage broken = ZMTPMessage.from(
                        Unpooled.copiedBuffer("ada", StandardCharsets.UTF_8),
                        Unpooled.copiedBuffer("m", StandardCharsets.UTF_8))
                .retain();
        broken.frame(1).release();

        assertThatThrownBy(() -> router.trySend(broken)).isInstanceOf(IllegalReferenceCountException.class);
        assertThatThrownBy(() -> router.send(broken)).isInstanceOf(IllegalReferenceCountException.class);

        assertThat(ada.isWritable()).isTrue();
    }

    @Test
    void aMessageForNobodyIsRefusedAtOnce(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPMessage unknown = message("nobody", "m");
        ZMTPMessage nameless = message("m");

        SendingThreads.assertFails(UNROUTABLE, () -> router.send(unknown));
        SendingThreads.assertFails(UNROUTABLE, () -> router.send(nameless));

        assertThat(unknown.refCnt()).isZero();
        assertThat(nameless.refCnt()).isZero();
        assertThat(router.stats().dropped()).isEqualTo(2);
    }
}
