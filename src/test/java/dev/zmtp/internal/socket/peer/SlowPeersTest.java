package dev.zmtp.internal.socket.peer;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.internal.transport.QueueLimit;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.test.ZMTPTestPeer;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Subscribers that do not read, beside one that does, in virtual time. */
@Tag("netty-4.2-only")
class SlowPeersTest {

    private static final String ENDPOINT = "inproc://slow-peers";
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    /** More than fits anywhere on the way to a subscriber that does not read. */
    private static final int MANY = 3_000;

    private static final QueueLimit LIMIT = new QueueLimit(100, 1 << 20);

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final List<String> fast = new ArrayList<>();
    private final List<String> slow = new ArrayList<>();
    private final List<ZMTPSocketEvent> events = new ArrayList<>();
    private final List<ZMTPMessage> sent = new ArrayList<>();
    private ZMTPSocket publisher;
    private ZMTPRegistration listening;
    private ZMTPSocket stopped;

    /** How the publisher sees the one that does not read. */
    private ZMTPPeer its;

    @AfterEach
    void close() {
        loop.close();
    }

    /** A publisher with a subscriber that reads and one that has stopped. */
    private void start(ZMTPSocketType type, OverflowPolicy policy) {
        publisher = loop.open(ZMTPSocketConfig.builder(type)
                .overflowPolicy(policy)
                .slowPeerTimeout(TIMEOUT)
                .sendQueueLimit(LIMIT.messages(), LIMIT.bytes()));
        publisher.bind(ENDPOINT);
        subscriber(fast);
        loop.run();
        List<ZMTPPeer> before = List.copyOf(publisher.peers());
        stopped = subscriber(slow);
        loop.run();
        its = publisher.peers().stream()
                .filter(peer -> !before.contains(peer))
                .findFirst()
                .orElseThrow();
        stopped.peers().iterator().next().pauseReading();
        loop.run();
        listening = publisher.onEvent(Runnable::run, events::add);
    }

    private ZMTPSocket subscriber(List<String> received) {
        ZMTPSocket subscriber =
                loop.open(ZMTPSocketConfig.builder(SUB).reconnectDelay(Duration.ofHours(1), Duration.ofHours(1)));
        subscriber.onMessage((from, message) -> received.add(String.join(" ", TestSockets.frames(message))));
        subscriber.subscribe("");
        subscriber.connect(ENDPOINT);
        return subscriber;
    }

    /** A publisher connected to a subscriber that stops reading on each connection, and the publisher's limit. */
    private void connectToStopped(int limit) {
        ZMTPSocket subscriber = loop.open(ZMTPSocketConfig.builder(SUB));
        subscriber.subscribe("");
        subscriber.onEvent(Runnable::run, event -> {
            if (event instanceof ZMTPSocketEvent.PeerUp up) {
                up.peer().pauseReading();
            }
        });
        subscriber.bind(ENDPOINT);
        publisher = loop.open(ZMTPSocketConfig.builder(PUB)
                .overflowPolicy(OverflowPolicy.DISCONNECT)
                .slowPeerTimeout(TIMEOUT)
                .sendQueueLimit(limit, 1 << 20)
                .reconnectDelay(Duration.ofMillis(100), Duration.ofMillis(100)));
        publisher.onEvent(Runnable::run, events::add);
        its = TestSockets.peerOf(publisher.connect(ENDPOINT));
        loop.run();
    }

    private void publish(int from, int to) {
        for (int i = from; i < to; i++) {
            ZMTPMessage message = message(i);
            sent.add(message);
            publisher.sendOrDrop(message);
            loop.run();
        }
    }

    private static ZMTPMessage message(int number) {
        return TestSockets.message("news", Integer.toString(number));
    }

    private static List<String> texts(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> "news " + i).toList();
    }

    private <E extends ZMTPSocketEvent> List<E> events(Class<E> type) {
        return events.stream().filter(type::isInstance).map(type::cast).toList();
    }

    /** T31: without processes and the clock of the machine. */
    @Tag("T31")
    @Test
    void oneThatDoesNotReadCostsTheOthersNothing() {
        start(PUB, OverflowPolicy.DROP_NEW);

        publish(0, MANY);

        assertThat(fast).isEqualTo(texts(0, MANY));
        assertThat(its.stats().dropped()).isPositive();
        assertThat(events(ZMTPSocketEvent.Dropped.class)).isNotEmpty().allMatch(dropped -> dropped.peer() == its);
        assertThat(events(ZMTPSocketEvent.SlowPeer.class)).singleElement().satisfies(slowPeer -> {
            assertThat(slowPeer.peer()).isSameAs(its);
            assertThat(slowPeer.dropped())
                    .as("it comes before anything is dropped")
                    .isZero();
        });
    }

    /** T31: at the first drop, and then at most once a second. */
    @Tag("T31")
    @Test
    void dropsAreReportedAtOnceAndThenOnceASecond() {
        start(PUB, OverflowPolicy.DROP_NEW);
        publish(0, MANY);
        assertThat(events(ZMTPSocketEvent.Dropped.class)).hasSize(1);

        loop.advance(Duration.ofSeconds(3));

        assertThat(events(ZMTPSocketEvent.Dropped.class)).hasSize(2);
        assertThat(reported()).isEqualTo(its.stats().dropped());
    }

    /** The number of messages in the events of drops. */
    private long reported() {
        return events(ZMTPSocketEvent.Dropped.class).stream()
                .mapToLong(ZMTPSocketEvent.Dropped::messages)
                .sum();
    }

    /** Nothing more is queued, so it becomes slow with the change of the limit. */
    @Test
    void oneWhoseQueueIsFullByALowerLimitIsDisconnected() {
        start(PUB, OverflowPolicy.DISCONNECT);
        for (int i = 0; its.stats().queued() < LIMIT.messages() / 4; i++) {
            publish(i, i + 1);
        }

        publisher.resizeSendQueue(LIMIT.messages() / 8, LIMIT.bytes());
        loop.run();

        assertThat(events(ZMTPSocketEvent.SlowPeer.class)).hasSize(1);
        loop.advance(TIMEOUT.multipliedBy(2));
        assertThat(events(ZMTPSocketEvent.PeerDown.class)).hasSize(1);
    }

    @Test
    void oneThatIsNoLongerSlowIsNotDisconnected() {
        start(PUB, OverflowPolicy.DISCONNECT);
        for (int i = 0; its.stats().queued() < LIMIT.messages() / 2; i++) {
            publish(i, i + 1);
        }
        assertThat(events(ZMTPSocketEvent.SlowPeer.class)).hasSize(1);

        publisher.resizeSendQueue(LIMIT.messages() * 4, LIMIT.bytes());
        loop.advance(TIMEOUT.multipliedBy(5));

        assertThat(events(ZMTPSocketEvent.PeerDown.class)).isEmpty();
    }

    /** For lack of memory now, which the look at slow peers finds before a message does. */
    @Test
    void oneThatIsSlowAgainIsReportedAgain() {
        ZMTPMemoryBudget budget = ZMTPMemoryBudget.of(1 << 20);
        publisher = loop.open(ZMTPSocketConfig.builder(PUB)
                .overflowPolicy(OverflowPolicy.DISCONNECT)
                .slowPeerTimeout(TIMEOUT)
                .sendQueueLimit(LIMIT.messages(), LIMIT.bytes())
                .codec(codec -> codec.memoryBudget(budget)));
        publisher.bind("test://slow-again");
        ZMTPTestPeer subscriber = ZMTPTestPeer.connect(loop, "test://slow-again", SUB);
        loop.run();
        subscriber.subscribe("");
        subscriber.stopReading();
        publisher.onEvent(Runnable::run, events::add);
        while (publisher.stats().queued() < 60) {
            publisher.sendOrDrop(TestSockets.message("x".repeat(2_000)));
            loop.run();
        }
        publisher.resizeSendQueue(4 * LIMIT.messages(), LIMIT.bytes());
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL)
                .receiveQueueLimit(10_000, 1 << 30)
                .codec(codec -> codec.memoryBudget(budget)));
        pull.bind("test://takes-memory");
        while (budget.used() < 850_000) {
            ZMTPTestPeer push = ZMTPTestPeer.connect(loop, "test://takes-memory", PUSH);
            for (int i = 0; i < 500; i++) {
                push.sendBytes(new byte[1_000]);
            }
        }

        loop.advance(TIMEOUT.dividedBy(2).plusMillis(100));
        publisher.sendOrDrop(TestSockets.message("more"));
        loop.run();

        assertThat(events(ZMTPSocketEvent.SlowPeer.class)).hasSize(2);
    }

    @Test
    void dropsOfTheLastSecondAreReportedBeforeTheEnd() {
        start(PUB, OverflowPolicy.DROP_NEW);
        publish(0, MANY);
        long dropped = its.stats().dropped();

        publisher.closeAsync(Duration.ZERO);
        loop.advance(Duration.ofMillis(100));

        assertThat(reported()).isEqualTo(dropped).isGreaterThan(1);
    }

    @Test
    void dropsOfTheLastSecondAreLoggedBeforeTheEnd() {
        start(PUB, OverflowPolicy.DROP_NEW);
        try (CapturedLog log = new CapturedLog("dev.zmtp.socket.Drops")) {
            listening.close();
            publish(0, MANY);
            long dropped = its.stats().dropped();

            publisher.closeAsync(Duration.ZERO);
            loop.advance(Duration.ofMillis(100));

            assertThat(log.lines)
                    .hasSize(2)
                    .last()
                    .asString()
                    .isEqualTo("PUB socket: further messages dropped in its last second: " + (dropped - 1));
        }
    }

    @Test
    void aDropThatAFutureReportsHasNoEvent() {
        start(PUB, OverflowPolicy.DROP_NEW);
        List<CompletableFuture<Void>> results = new ArrayList<>();

        for (int i = 0; i < MANY; i++) {
            results.add(its.sendAsync(message(i)));
            loop.run();
        }

        assertThat(results).anyMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(its.stats().dropped()).isPositive();
        assertThat(events(ZMTPSocketEvent.Dropped.class)).isEmpty();
    }

    /** T32. */
    @Tag("T32")
    @Test
    void oneThatReadsOnMissesWhatWasCountedAndNothingAfterIt() {
        start(PUB, OverflowPolicy.DROP_NEW);
        publish(0, MANY);
        long dropped = its.stats().dropped();

        stopped.peers().iterator().next().resumeReading();
        loop.run();
        publish(MANY, MANY + 1_000);

        int gap = (int) dropped;
        assertThat(its.stats().dropped()).isEqualTo(dropped);
        assertThat(slow.subList(0, MANY - gap)).isEqualTo(texts(0, MANY - gap));
        assertThat(slow.subList(MANY - gap, slow.size())).isEqualTo(texts(MANY, MANY + 1_000));
    }

    /** T33. */
    @Tag("T33")
    @Test
    void oneThatDoesNotReadIsDisconnectedWhenItsTimeIsOver() {
        start(PUB, OverflowPolicy.DISCONNECT);
        publish(0, MANY);
        assertThat(events(ZMTPSocketEvent.SlowPeer.class)).hasSize(1);

        loop.advance(TIMEOUT.minusMillis(1));
        assertThat(TestSockets.isUp(its)).isTrue();
        loop.advance(Duration.ofMillis(1));

        assertThat(publisher.peers()).hasSize(1).doesNotContain(its);
        assertThat(events(ZMTPSocketEvent.PeerDown.class)).singleElement().satisfies(down -> {
            assertThat(down.peer()).isSameAs(its);
            assertThat(down.cause()).hasMessageContaining("has waited for PT2S");
        });
        assertThat(its.stats().queued()).isZero();
        loop.run();
        assertThat(sent).as("memory of what was sent").allMatch(message -> message.refCnt() == 0);
        assertThat(fast).isEqualTo(texts(0, MANY));
    }

    /** T33: a peer that is connected to comes back, and its queue is still there. */
    @Tag("T33")
    @Test
    void oneThatComesBackHasItsTimeAgainAndIsDisconnectedAgain() {
        connectToStopped(10_000);
        publish(0, 12_000);
        loop.advance(TIMEOUT);
        assertThat(events(ZMTPSocketEvent.PeerDown.class)).hasSize(1);

        loop.advance(TIMEOUT);
        assertThat(TestSockets.isUp(its)).isTrue();
        assertThat(events(ZMTPSocketEvent.PeerDown.class)).hasSize(1);
        loop.advance(TIMEOUT);

        assertThat(events(ZMTPSocketEvent.PeerDown.class)).hasSize(2);
    }

    /** T33: even if its next message is as much of the limit as a slow one has. */
    @Tag("T33")
    @Test
    void oneWhoseQueueWasDroppedBecomesSlowAgainAndIsDisconnectedAgain() {
        connectToStopped(4);
        publish(0, MANY);
        assertThat(events(ZMTPSocketEvent.SlowPeer.class)).hasSize(1);

        ((Peer) its).exceeded(new ZMTPException(ZMTPException.Code.TOO_LARGE, "memory"));
        loop.advance(TIMEOUT);
        assertThat(events(ZMTPSocketEvent.PeerDown.class)).hasSize(1);
        assertThat(TestSockets.isUp(its)).isTrue();
        publish(MANY, 2 * MANY);
        loop.advance(TIMEOUT.multipliedBy(2));

        assertThat(events(ZMTPSocketEvent.SlowPeer.class)).hasSize(2);
        assertThat(events(ZMTPSocketEvent.PeerDown.class)).hasSize(2);
    }

    /** T33: one that reads a little all the time is slow, and is not stuck. */
    @Tag("T33")
    @Test
    void oneThatReadsSlowlyIsNotDisconnected() {
        start(PUB, OverflowPolicy.DISCONNECT);
        for (int round = 0; round < 10; round++) {
            publish(round * MANY, (round + 1) * MANY);
            loop.advance(Duration.ofSeconds(1));
            stopped.peers().iterator().next().resumeReading();
            loop.run();
            stopped.peers().iterator().next().pauseReading();
            loop.run();
        }

        assertThat(TestSockets.isUp(its)).isTrue();
        assertThat(its.stats().dropped()).isPositive();
    }

    /** T34. */
    @Tag("T34")
    @Test
    void aPublisherThatWaitsForAFullSubscriberSendsNothingTwice() {
        start(XPUB, OverflowPolicy.WAIT);
        int taken = 0;
        ZMTPMessage refused = message(taken);
        while (publisher.trySend(refused)) {
            loop.run();
            refused = message(++taken);
            assertThat(taken).isLessThan(MANY);
        }
        assertThat(refused.refCnt()).isEqualTo(1);
        CompletableFuture<Void> waits = publisher.sendAsync(refused);
        loop.advance(Duration.ofSeconds(10));
        assertThat(waits).isNotDone();
        assertThat(fast).isEqualTo(texts(0, taken));

        stopped.peers().iterator().next().resumeReading();
        loop.run();

        assertThat(waits).isCompleted();
        assertThat(fast).isEqualTo(texts(0, taken + 1));
        assertThat(slow).isEqualTo(texts(0, taken + 1));
        assertThat(its.stats().dropped()).isZero();
    }
}
