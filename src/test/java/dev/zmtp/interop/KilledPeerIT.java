package dev.zmtp.interop;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PAIR;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.testing.TestSockets.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The process of a peer is killed, with SIGKILL, and started again: traffic goes on without a call for it. */
@Tag("slow")
@Tag("netty-4.2-only") // long, and the same with any version of Netty
class KilledPeerIT {

    /** Theirs, and ours that talks to it. */
    private static final Map<ZMTPSocketType, ZMTPSocketType> PAIRS =
            Map.of(REP, REQ, ROUTER, DEALER, PULL, PUSH, PUB, SUB, SUB, PUB, PAIR, PAIR);

    private final Map<ZMTPSocketType, ZMTPSocket> ours = new EnumMap<>(ZMTPSocketType.class);
    private TestSockets sockets;

    @BeforeEach
    void open() {
        sockets = new TestSockets();
        PAIRS.forEach((theirs, type) -> ours.put(
                theirs,
                sockets.open(
                        ZMTPSocketConfig.builder(type).reconnectDelay(Duration.ofMillis(10), Duration.ofMillis(100)))));
        ours.get(PUB).subscribe("news");
    }

    @AfterEach
    void close() {
        sockets.close();
    }

    private static ZMTPSocketType[] types() {
        return PAIRS.keySet().toArray(ZMTPSocketType[]::new);
    }

    private void assertTraffic(SocketProcess theirs, String text) throws InterruptedException {
        assertThat(ask(ours.get(REP), text)).containsExactly(text);
        assertThat(ask(ours.get(ROUTER), text)).containsExactly(text);

        ours.get(PULL).send(TestSockets.message(text));
        theirs.await(PULL, text);

        get(ours.get(SUB).whenPeers(1));
        get(ours.get(SUB).sendAsync(TestSockets.message(text)));
        theirs.await(SUB, text);

        assertThat(TestSockets.receive(ours.get(PUB))).startsWith("news");

        ours.get(PAIR).send(TestSockets.message(text));
        assertThat(TestSockets.receive(ours.get(PAIR))).containsExactly(text);
    }

    private static List<String> ask(ZMTPSocket socket, String text) {
        return TestSockets.frames(get(socket.requestAsync(TestSockets.message(text), TestSockets.PATIENCE)));
    }

    private void awaitDown() {
        for (ZMTPSocket socket : ours.values()) {
            TestSockets.await(
                    "the end of " + socket, () -> socket.peers().stream().noneMatch(TestSockets::isUp));
        }
        dropReceived(ours.get(PUB));
    }

    /** Drops what the last publisher had sent. */
    private static void dropReceived(ZMTPSocket subscriber) {
        CompletableFuture<ZMTPMessage> next = subscriber.receiveAsync();
        while (!next.cancel(false)) {
            get(next).release();
            next = subscriber.receiveAsync();
        }
    }

    /** T38. */
    @Tag("T38")
    @ParameterizedTest
    @EnumSource
    void thatListens(SocketPeerKind kind) throws Exception {
        try (SocketProcess theirs = SocketProcess.binding(kind, types())) {
            ours.forEach((type, socket) -> socket.connect(theirs.endpoint(type)));
            assertTraffic(theirs, "before");

            theirs.kill();
            awaitDown();
            theirs.restart();

            assertTraffic(theirs, "after");
        }
    }

    /** T39. */
    @Tag("T39")
    @ParameterizedTest
    @EnumSource
    void thatConnects(SocketPeerKind kind) throws Exception {
        Map<ZMTPSocketType, String> endpoints = new EnumMap<>(ZMTPSocketType.class);
        ours.forEach((type, socket) -> endpoints.put(type, TestSockets.bind(socket, SocketProcess.ANY_PORT)));
        try (SocketProcess theirs = SocketProcess.connecting(kind, endpoints)) {
            awaitUp();
            assertTraffic(theirs, "before");
            Set<ZMTPPeer> before = peers();

            theirs.kill();
            awaitDown();
            assertThat(ours.values()).allMatch(socket -> socket.peers().isEmpty());
            theirs.restart();

            awaitUp();
            assertTraffic(theirs, "after");
            assertThat(peers()).hasSameSizeAs(before).doesNotContainAnyElementsOf(before);
        }
    }

    private Set<ZMTPPeer> peers() {
        Set<ZMTPPeer> peers = ConcurrentHashMap.newKeySet();
        ours.values().forEach(socket -> peers.addAll(socket.peers()));
        return peers;
    }

    private void awaitUp() {
        for (ZMTPSocket socket : ours.values()) {
            TestSockets.await("a peer of " + socket, () -> socket.peers().size() == 1);
        }
    }

    /** T42. */
    @Tag("T42")
    @ParameterizedTest
    @EnumSource
    void aPublisherThatComesBackHasAllTopicsAgain(SocketPeerKind kind) throws Exception {
        try (SocketProcess theirs = SocketProcess.binding(kind, XPUB)) {
            Set<String> received = ConcurrentHashMap.newKeySet();
            ZMTPSocket subscriber = sockets.open(
                    ZMTPSocketConfig.builder(SUB).reconnectDelay(Duration.ofMillis(10), Duration.ofMillis(100)));
            subscriber.onMessage(
                    (from, message) -> received.add(TestSockets.frames(message).get(0)));
            for (int i = 0; i < SocketProgram.TOPICS; i++) {
                subscriber.subscribe("topic " + i + ".");
            }
            subscriber.connect(theirs.endpoint(XPUB));
            theirs.await(XPUB, "has " + SocketProgram.TOPICS);
            TestSockets.await("news of all topics", () -> received.size() == SocketProgram.TOPICS);

            theirs.kill();
            received.clear();
            theirs.restart();

            theirs.await(XPUB, "has " + SocketProgram.TOPICS);
            TestSockets.await("news of all topics again", () -> received.size() == SocketProgram.TOPICS);
        }
    }
}
