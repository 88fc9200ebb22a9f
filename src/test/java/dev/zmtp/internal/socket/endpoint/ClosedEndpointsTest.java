package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PAIR;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.test.ZMTPTestPeer;
import dev.zmtp.testing.OtherThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What was sent before an endpoint is closed, and what waits only for its peer. */
@Tag("netty-4.2-only")
class ClosedEndpointsTest {

    /** More than the event loop takes in a task. */
    private static final int MANY = 1_100;

    private static final Duration HOUR = Duration.ofHours(1);

    @AutoClose
    private final ZMTPTestLoop loop = ZMTPTestLoop.create();

    private final List<String> received = new ArrayList<>();

    private ZMTPEndpoint connector;

    private void pull(String endpoint) {
        receiver(PULL, endpoint);
    }

    private ZMTPSocket receiver(ZMTPSocketType type, String endpoint) {
        ZMTPSocket receiver = loop.open(
                ZMTPSocketConfig.builder(type).codec(codec -> codec.localIdentity(type == DEALER ? "worker" : "")));
        note(receiver);
        receiver.bind(endpoint);
        loop.run();
        return receiver;
    }

    private void note(ZMTPSocket receiver) {
        receiver.onMessage((peer, job) -> {
            received.add(job.frameUTF8(0));
            job.release();
        });
    }

    /** A socket that has connected to the endpoint, with room for all messages. */
    private ZMTPSocket sender(ZMTPSocketType type) {
        ZMTPSocket sender = loop.open(ZMTPSocketConfig.builder(type).sendQueueLimit(5_000, 1 << 30));
        connector = sender.connect("inproc://jobs");
        loop.run();
        return sender;
    }

    /** Another thread sends the messages, and closes the endpoint. */
    private void sendAndClose(IntConsumer send) throws Throwable {
        OtherThread.call(() -> {
            for (int i = 0; i < MANY; i++) {
                send.accept(i);
            }
            connector.close();
        });
        loop.advance(Duration.ofSeconds(10));
    }

    @Test
    void whatAThreadHasSentBeforeItsCloseLeaves() throws Throwable {
        pull("inproc://jobs");
        ZMTPSocket push = sender(PUSH);
        List<CompletableFuture<Void>> sent = new ArrayList<>();

        sendAndClose(i -> sent.add(push.sendAsync(message("job " + i))));

        assertThat(received).hasSize(MANY);
        assertThat(sent).allMatch(future -> future.isDone() && !future.isCompletedExceptionally());
        assertThat(push.stats().queued()).isZero();
    }

    @Test
    void whatAThreadSendsAfterItsCloseDoesNotGoThere() throws Throwable {
        pull("inproc://jobs");
        ZMTPSocket push = sender(PUSH);
        OtherThread.call(() -> {
            push.sendOrDrop(message("before"));
            connector.close();
            push.sendOrDrop(message("after"));
        });

        loop.advance(Duration.ofSeconds(10));

        assertThat(received).containsExactly("before");
    }

    @Test
    void whatAThreadHasPublishedBeforeItsCloseLeaves() throws Throwable {
        ZMTPSocket sub = receiver(SUB, "inproc://jobs");
        sub.subscribe("");
        ZMTPSocket pub = sender(PUB);

        sendAndClose(i -> pub.sendOrDrop(message("job " + i)));

        assertThat(received).hasSize(MANY);
    }

    @Test
    void whatAThreadHasSentByNameBeforeItsCloseLeaves() throws Throwable {
        receiver(DEALER, "inproc://jobs");
        ZMTPSocket router = sender(ROUTER);

        sendAndClose(
                i -> assertThat(router.trySend(message("worker", "job " + i))).isTrue());

        assertThat(received).hasSize(MANY);
        assertThat(router.stats().dropped()).isZero();
    }

    @Test
    void whatAThreadHasSentToAPeerBeforeItEndsThePeerLeaves() throws Throwable {
        ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER).sendQueueLimit(5_000, 1 << 30));
        router.bind("inproc://jobs");
        ZMTPSocket dealer = loop.open(ZMTPSocketConfig.builder(DEALER).reconnectDelay(HOUR, HOUR));
        note(dealer);
        dealer.connect("inproc://jobs");
        loop.run();
        ZMTPPeer peer = router.peers().iterator().next();

        OtherThread.call(() -> {
            for (int i = 0; i < MANY; i++) {
                peer.sendOrDrop(message("job " + i));
            }
            peer.close();
        });
        loop.advance(Duration.ofSeconds(10));

        assertThat(received).hasSize(MANY);
    }

    /** Of a publisher that waits for its slowest subscriber. */
    @Test
    void whatWaitsForAllSubscribersLeavesIfItWasSentBeforeTheClose() throws Throwable {
        ZMTPTestPeer slow = ZMTPTestPeer.bind(loop, "test://slow", SUB);
        ZMTPSocket pub = loop.open(ZMTPSocketConfig.builder(PUB)
                .overflowPolicy(OverflowPolicy.WAIT)
                .sendQueueLimit(10, 1 << 20));
        connector = pub.connect("test://slow");
        loop.run();
        slow.subscribe("");
        slow.stopReading();
        while (pub.isWritable()) {
            pub.sendOrDrop(message("x".repeat(100_000)));
            loop.run();
        }
        AtomicInteger sent = new AtomicInteger();
        OtherThread.call(() -> {
            ZMTPMessage last = message("last");
            while (pub.trySend(last)) {
                sent.incrementAndGet();
                last = message("last");
            }
            last.release();
            connector.close();
        });
        loop.run();
        assertThat(sent).hasPositiveValue();

        assertThat(pub.stats().queued())
                .as("the limit of the queue, and the messages that wait")
                .isEqualTo(10 + sent.get());
        slow.resumeReading();
        int last = 0;
        while (!slow.isEmpty()) {
            last += slow.receive().equals(List.of("last")) ? 1 : 0;
        }

        assertThat(last).isEqualTo(sent.get());
        loop.close(); // now, as the slow peer has buffers until then
    }

    @Test
    void aMessageThatIsSentAgainWhenAnEndpointEndsWaitsForTheNext() {
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH).linger(Duration.ZERO));
        ZMTPEndpoint ended = push.connect("test://nobody");
        List<CompletableFuture<Void>> again = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            String job = "job " + i;
            push.sendAsync(message(job)).whenComplete((done, failure) -> {
                if (failure != null) {
                    push.connect("inproc://backup");
                    again.add(push.sendAsync(message(job)));
                }
            });
        }
        loop.run();
        ended.close();
        loop.run();
        assertThat(again).isNotEmpty().noneMatch(CompletableFuture::isDone);

        pull("inproc://backup");

        assertThat(received).containsExactlyInAnyOrder("job 0", "job 1", "job 2");
        assertThat(again).allMatch(CompletableFuture::isDone);
    }

    /** Of a publisher that waits for its slowest subscriber. */
    @Test
    void aMessageThatWaitedOnlyForThePeerOfAClosedEndpointIsSent() throws Throwable {
        ZMTPTestPeer slow = ZMTPTestPeer.bind(loop, "test://slow", SUB);
        ZMTPTestPeer idle = ZMTPTestPeer.bind(loop, "test://idle", SUB);
        ZMTPSocket pub = loop.open(ZMTPSocketConfig.builder(XPUB)
                .overflowPolicy(OverflowPolicy.WAIT)
                .sendQueueLimit(1, 1 << 20));
        ZMTPEndpoint toSlow = pub.connect("test://slow");
        pub.connect("test://idle");
        loop.run();
        slow.subscribe("");
        idle.subscribe("");
        slow.stopReading();
        String big = "x".repeat(100_000);
        int sent = 0;
        while (pub.isWritable()) {
            pub.sendOrDrop(message(big));
            sent++;
            loop.run();
            assertThat(sent).isLessThan(100);
        }
        while (!idle.isEmpty()) {
            assertThat(idle.receive()).containsExactly(big);
        }
        ZMTPMessage accepted = message("accepted");
        OtherThread.call(() -> assertThat(pub.trySend(accepted)).isTrue());
        CompletableFuture<Void> waits = pub.sendAsync(message("next"));
        loop.run();
        assertThat(idle.isEmpty()).isTrue();

        toSlow.close();

        assertThat(idle.receive()).containsExactly("accepted");
        assertThat(idle.receive()).containsExactly("next");
        assertThat(waits).isDone();
        loop.close(); // now, as the slow peer has buffers until then
    }

    @Test
    void whatIsSentAfterItsCloseWaitsForTheNextEndpoint() {
        ZMTPTestPeer slow = ZMTPTestPeer.bind(loop, "test://slow", PULL);
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH).sendQueueLimit(5_000, 1 << 30));
        ZMTPEndpoint toSlow = push.connect("test://slow");
        loop.run();
        slow.stopReading();
        while (push.isWritable() && push.stats().queued() < 20) {
            push.sendOrDrop(message("x".repeat(100_000)));
            loop.run();
        }

        toSlow.close();
        loop.run();
        push.connect("inproc://next");
        push.sendOrDrop(message("after"));
        loop.run();
        slow.resumeReading();
        List<String> atTheFirst = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            loop.advance(Duration.ofMillis(100));
            while (!slow.isEmpty()) {
                atTheFirst.addAll(slow.receive());
            }
        }
        pull("inproc://next");
        loop.advance(Duration.ofSeconds(10));

        assertThat(atTheFirst).isNotEmpty().doesNotContain("after");
        assertThat(received).contains("after");
        loop.close(); // now, as the slow peer has buffers until then
    }

    @ParameterizedTest
    @EnumSource(names = {"PAIR", "CHANNEL", "DEALER", "PUSH"})
    void whatIsQueuedForASlowPeerLeavesAndNothingMoreIsAccepted(ZMTPSocketType type) {
        ZMTPTestPeer slow = ZMTPTestPeer.bind(loop, "test://slow", type == PUSH ? PULL : type);
        ZMTPSocket socket = loop.open(ZMTPSocketConfig.builder(type).linger(HOUR));
        ZMTPEndpoint toSlow = socket.connect("test://slow");
        loop.run();
        slow.stopReading();
        for (int i = 0; i < 20; i++) {
            socket.sendOrDrop(message("x".repeat(100_000)));
        }
        loop.run();

        toSlow.close();
        loop.run();
        assertThat(socket.isWritable()).isFalse();
        ZMTPMessage after = message("after");
        assertThat(socket.trySend(after)).isFalse();
        after.release();
        slow.resumeReading();
        int read = 0;
        for (int i = 0; i < 100; i++) {
            loop.advance(Duration.ofMillis(10));
            while (!slow.isEmpty()) {
                slow.receive();
                read++;
            }
        }

        assertThat(read).isEqualTo(20);
    }

    @ParameterizedTest
    @EnumSource(names = {"PAIR", "CHANNEL", "DEALER", "PUSH"})
    void whatIsSentBeforeThePeerIsThereLeavesIfItComesSoon(ZMTPSocketType type) {
        ZMTPSocket socket = loop.open(ZMTPSocketConfig.builder(type));
        ZMTPEndpoint endpoint = socket.connect("inproc://later");
        CompletableFuture<Void> sent = socket.sendAsync(message("job"));
        loop.run();
        endpoint.close();
        loop.run();
        assertThat(sent).isNotDone();

        receiver(type == PUSH ? PULL : type, "inproc://later");

        assertThat(received).containsExactly("job");
    }

    /** The old peer has not yet read everything when the new one is there. */
    @Test
    void aPairThatConnectsElsewhereGetsEverythingFromThere() {
        ZMTPTestPeer slow = ZMTPTestPeer.bind(loop, "test://slow", PAIR);
        ZMTPSocket next = loop.open(ZMTPSocketConfig.builder(PAIR));
        next.bind("test://next");
        ZMTPSocket pair = loop.open(
                ZMTPSocketConfig.builder(PAIR).sendQueueLimit(5_000, 1 << 30).linger(Duration.ofSeconds(5)));
        note(pair);
        ZMTPEndpoint toSlow = pair.connect("test://slow");
        loop.run();
        slow.stopReading();
        while (pair.stats().queued() < 3) {
            pair.sendOrDrop(message("x".repeat(100_000)));
            loop.run();
        }
        for (int i = 0; i < 3; i++) {
            next.sendAsync(message("job " + i));
        }

        toSlow.close();
        loop.run();
        pair.connect("test://next");
        loop.advance(Duration.ofSeconds(10));

        assertThat(received).containsExactly("job 0", "job 1", "job 2");
        loop.close(); // now, as the slow peer has buffers until then
    }
}
