package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.socket.ZMTPSocketException.Reason.EXPIRED;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketEvent.Dropped;
import dev.zmtp.socket.ZMTPSocketEvent.PeerDown;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.test.ZMTPTestPeer;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Messages that become too old while they wait for room in a queue, in virtual time. */
@Tag("netty-4.2-only")
class MessageAgeTest {

    private static final String ENDPOINT = "test://age";
    private static final Duration AGE = Duration.ofSeconds(1);

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final List<String> received = new ArrayList<>();

    @AfterEach
    void close() {
        loop.close();
    }

    private ZMTPSocket open(ZMTPSocketType type, OverflowPolicy policy) {
        return loop.open(ZMTPSocketConfig.builder(type)
                .overflowPolicy(policy)
                .maxMessageAge(AGE)
                .sendQueueLimit(1, 1 << 20));
    }

    private void receive() {
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL));
        pull.onMessage((from, message) -> received.addAll(TestSockets.frames(message)));
        pull.bind(ENDPOINT);
        loop.advance(Duration.ofSeconds(10));
    }

    private static List<CompletableFuture<Void>> send(ZMTPSocket push, String... texts) {
        return Stream.of(texts).map(text -> push.sendAsync(message(text))).toList();
    }

    @Test
    void aSendThatWaitsForRoomExpires() {
        ZMTPSocket push = open(PUSH, OverflowPolicy.WAIT);
        push.connect(ENDPOINT);
        List<Long> reported = new ArrayList<>();
        push.onEvent(Runnable::run, event -> {
            if (event instanceof Dropped dropped) {
                reported.add(dropped.messages());
            }
        });
        List<CompletableFuture<Void>> sends = send(push, "queued", "waits", "waits as well");
        loop.advance(Duration.ofHours(1));

        receive();

        assertThat(received).isEmpty();
        assertThat(sends).allSatisfy(send -> assertThat(reason(send)).isEqualTo(EXPIRED));
        assertThat(push.stats().dropped()).isEqualTo(3);
        assertThat(push.stats().queued()).isZero();
        assertThat(reported).as("the futures report the others").containsExactly(1L);
    }

    @Test
    void aMessageExpiresAlthoughNobodyComes() {
        ZMTPSocket push = open(PUSH, OverflowPolicy.WAIT);
        push.connect(ENDPOINT);
        List<CompletableFuture<Void>> sends = send(push, "queued", "waits", "waits as well");

        loop.advance(AGE);
        assertThat(sends).noneMatch(CompletableFuture::isDone);
        loop.advance(AGE.dividedBy(4));

        assertThat(sends).allSatisfy(send -> assertThat(reason(send)).isEqualTo(EXPIRED));
        assertThat(push.stats().queued()).isZero();
        assertThat(push.isWritable()).isTrue();
    }

    @Test
    void manyMessagesExpireTogether() {
        ZMTPSocket push =
                loop.open(ZMTPSocketConfig.builder(PUSH).maxMessageAge(AGE).sendQueueLimit(5_000, 1 << 20));
        push.connect(ENDPOINT);
        for (int i = 0; i < 5_000; i++) {
            push.sendOrDrop(message("x"));
        }

        loop.advance(AGE.plus(AGE.dividedBy(4)));

        assertThat(push.stats().queued()).isZero();
        assertThat(push.stats().dropped()).isEqualTo(5_000);
    }

    /** It waits behind messages for another peer, and for room of its own. */
    @Test
    void aMessageIsSentWhenThoseBeforeItHaveExpired() {
        ZMTPTestPeer slow = ZMTPTestPeer.bind(loop, "test://slow", SUB);
        ZMTPTestPeer idle = ZMTPTestPeer.bind(loop, "test://idle", SUB);
        ZMTPSocket pub = open(PUB, OverflowPolicy.WAIT);
        pub.connect("test://slow");
        pub.connect("test://idle");
        loop.run();
        slow.subscribe("slow");
        idle.subscribe("idle");
        slow.stopReading();
        List<CompletableFuture<Void>> slowly = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            slowly.add(pub.sendAsync(message("slow" + "x".repeat(100_000))));
        }
        loop.advance(AGE.dividedBy(2));
        CompletableFuture<Void> waits = pub.sendAsync(message("idle"));
        loop.run();
        assertThat(waits).isNotDone();

        loop.advance(AGE.multipliedBy(3).dividedBy(4));

        assertThat(waits).isCompletedWithValue(null);
        assertThat(idle.receive()).containsExactly("idle");
        assertThat(slowly.get(slowly.size() - 1)).isCompletedExceptionally();
        loop.close(); // now, as the slow peer has buffers until then
    }

    @Test
    void aRequestExpiresAlthoughTheSocketIsOnlyBound() {
        ZMTPSocket req = open(REQ, OverflowPolicy.WAIT);
        req.bind(ENDPOINT);
        CompletableFuture<Void> sent = req.sendAsync(message("request"));

        loop.advance(AGE.multipliedBy(2));

        assertThat(reason(sent)).isEqualTo(EXPIRED);
        assertThat(reason(req.receiveAsync())).isEqualTo(EXPIRED);
    }

    @Test
    void aPeerThatDoesNotReadIsDisconnectedAllTheMore() {
        ZMTPTestPeer slow = ZMTPTestPeer.bind(loop, ENDPOINT, SUB);
        ZMTPSocket pub = loop.open(ZMTPSocketConfig.builder(PUB)
                .overflowPolicy(OverflowPolicy.DISCONNECT)
                .slowPeerTimeout(AGE.multipliedBy(5))
                .maxMessageAge(AGE)
                .sendQueueLimit(10, 1 << 30));
        pub.connect(ENDPOINT);
        loop.run();
        slow.subscribe("");
        slow.stopReading();
        List<PeerDown> ends = new ArrayList<>();
        pub.onEvent(Runnable::run, event -> {
            if (event instanceof PeerDown end) {
                ends.add(end);
            }
        });
        for (int i = 0; i < 100; i++) {
            pub.sendOrDrop(message("x".repeat(100_000)));
            loop.advance(AGE.dividedBy(10));
        }

        assertThat(ends).hasSize(1);
        loop.close(); // now, as the slow peer has buffers until then
    }

    /** It has too few messages to be slow. */
    @Test
    void aFewMessagesExpireAlthoughThePeerWouldBeDisconnectedForMore() {
        ZMTPTestPeer slow = ZMTPTestPeer.bind(loop, ENDPOINT, SUB);
        ZMTPSocket pub = loop.open(ZMTPSocketConfig.builder(PUB)
                .overflowPolicy(OverflowPolicy.DISCONNECT)
                .maxMessageAge(AGE)
                .sendQueueLimit(100, 1 << 30));
        pub.connect(ENDPOINT);
        loop.run();
        slow.subscribe("");
        slow.stopReading();
        for (int i = 0; i < 10; i++) {
            pub.sendOrDrop(message("x".repeat(100_000)));
            loop.run();
        }

        loop.advance(AGE.multipliedBy(2));

        assertThat(pub.stats().dropped()).isPositive();
        loop.close(); // now, as the slow peer has buffers until then
    }

    @Test
    void aMessageForAPeerThatIsAwayExpires() {
        ZMTPSocket router = open(ROUTER, OverflowPolicy.WAIT);
        ZMTPPeer peer = router.connect(ENDPOINT).peer();
        CompletableFuture<Void> sent = peer.sendAsync(message("queued"));
        assertThat(peer.isWritable()).isFalse();

        loop.advance(AGE.multipliedBy(2));

        assertThat(reason(sent)).isEqualTo(EXPIRED);
        assertThat(peer.isWritable()).isTrue();
    }

    @Test
    void whoWaitsForTheAnswerToARequestThatHasExpiredIsTold() {
        ZMTPSocket req = open(REQ, OverflowPolicy.WAIT);
        req.connect(ENDPOINT);
        req.sendOrDrop(message("request"));
        CompletableFuture<ZMTPMessage> answer = req.receiveAsync();

        loop.advance(AGE.multipliedBy(2));

        assertThat(reason(answer)).isEqualTo(EXPIRED);
        assertThat(req.isWritable()).isTrue();
    }

    @Test
    void whoHearsThatARequestHasExpiredCanSendTheNext() {
        ZMTPSocket req = open(REQ, OverflowPolicy.WAIT);
        req.connect("inproc://age");
        req.sendAsync(message("too old")).whenComplete((sent, expired) -> req.sendAsync(message("again")));
        loop.advance(AGE.plus(AGE.dividedBy(4)));
        ZMTPSocket rep = loop.open(ZMTPSocketConfig.builder(REP));
        rep.serve(request -> request.reply(request.message()));

        rep.bind("inproc://age");
        loop.run();

        assertThat(TestSockets.frames(req.receiveAsync().join())).containsExactly("again");
    }

    @Test
    void aMessageThatWaitsForTheSlowestSubscriberExpires() {
        ZMTPTestPeer slow = ZMTPTestPeer.bind(loop, ENDPOINT, SUB);
        ZMTPSocket pub = open(PUB, OverflowPolicy.WAIT);
        pub.connect(ENDPOINT);
        loop.run();
        slow.subscribe("");
        slow.stopReading();
        while (pub.isWritable()) {
            pub.sendOrDrop(message("x".repeat(100_000)));
            loop.run();
        }
        CompletableFuture<Void> waits = pub.sendAsync(message("waits"));

        loop.advance(AGE.multipliedBy(2));

        assertThat(reason(waits)).isEqualTo(EXPIRED);
        assertThat(pub.isWritable()).isTrue();
        loop.close(); // now, as the slow peer has buffers until then
    }

    @Test
    void aSenderThatSendsAgainWhenItsMessageHasExpiredFindsItsPlaceInTheLine() {
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH)
                .maxMessageAge(AGE)
                .reconnectDelay(Duration.ofMillis(10), Duration.ofMillis(10))
                .sendQueueLimit(1, 1 << 20)
                .maxWaitingSends(1));
        push.connect(ENDPOINT);
        push.sendAsync(message("queued"));
        push.sendAsync(message("waits")).whenComplete((none, expired) -> push.sendAsync(message("again")));
        loop.advance(AGE.plus(AGE.dividedBy(4)));

        receive();

        assertThat(received).containsExactly("again");
    }

    @Test
    void aSendThatDoesNotWaitForSoLongIsSent() {
        ZMTPSocket push = open(PUSH, OverflowPolicy.WAIT);
        push.connect(ENDPOINT);
        send(push, "queued", "waits");
        loop.advance(Duration.ofMillis(500));

        receive();

        assertThat(received).containsExactly("queued", "waits");
    }

    /** The publisher has accepted it from another thread. */
    @Test
    void aMessageThatWaitsForAllItsSubscribersExpires() throws InterruptedException {
        ZMTPSocket pub = open(PUB, OverflowPolicy.WAIT);
        pub.bind(ENDPOINT);
        ZMTPTestPeer slow = ZMTPTestPeer.connect(loop, ENDPOINT, SUB);
        ZMTPTestPeer fast = ZMTPTestPeer.connect(loop, ENDPOINT, SUB);
        loop.run();
        slow.subscribe("");
        fast.subscribe("");
        loop.run();
        slow.stopReading();
        ZMTPMessage next = message("x".repeat(10_000));
        while (pub.trySend(next)) {
            loop.run();
            next = message("x".repeat(10_000));
        }
        next.release(); // it was refused
        Thread thread = new Thread(() -> pub.sendOrDrop(message("late")));
        thread.start();
        thread.join();
        loop.run();
        loop.advance(Duration.ofSeconds(5));

        slow.resumeReading();
        loop.run();

        while (!fast.isEmpty()) {
            assertThat(fast.receive()).isNotEqualTo(List.of("late"));
        }
        assertThat(pub.stats().dropped()).as("one was in the queue").isEqualTo(2);
    }
}
