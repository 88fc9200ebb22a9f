package dev.zmtp.interop;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.ZMTPSocketType.XSUB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPProxy;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.EventLoops;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Our proxy between sockets of other implementations. */
@Tag("T1")
@Tag("T2")
class ProxyIT {

    private static final int ROUNDS = 20;
    private static final int MESSAGES_PER_ROUND = 50;
    private static final int REQUESTS = 1_000;
    private static final String PROBE = "a probe";

    private final EventLoops loops = new EventLoops(2);
    private final List<ZMTPSocket> sockets = new ArrayList<>();
    private final Random random = new Random(74);

    private ZMTPSocket open(ZMTPSocketType type) {
        ZMTPSocket socket = ZMTPSocket.of(
                ZMTPSocketConfig.builder(type).group(loops.group()).build());
        sockets.add(socket);
        return socket;
    }

    private static String bind(ZMTPSocket socket) {
        return get(socket.bind("tcp://127.0.0.1:*").readyFuture()).text();
    }

    private static <T> T get(CompletableFuture<T> future) {
        return future.orTimeout(Patience.LIMIT.toSeconds(), TimeUnit.SECONDS).join();
    }

    @AfterEach
    void closeAll() {
        sockets.forEach(socket -> get(socket.closeAsync(Duration.ZERO)));
        loops.close();
    }

    /** One to five frames, some of them empty, and some of up to 70,000 bytes. */
    private ZMTPMessage randomMessage() {
        int[] lengths = new int[1 + random.nextInt(5)];
        for (int i = 0; i < lengths.length; i++) {
            lengths[i] = random.nextInt(new int[] {1, 300, 70_001}[random.nextInt(3)]);
        }
        return Messages.ofLengths(lengths);
    }

    /** T1, T74. */
    @Tag("T1")
    @Tag("T74")
    @ParameterizedTest
    @EnumSource(names = "OURS", mode = EnumSource.Mode.EXCLUDE)
    void workPassesInOrderAlsoAfterAPause(SocketPeerKind kind) {
        try (PeerContext peer = kind.open()) {
            ZMTPSocket frontend = open(PULL);
            ZMTPSocket backend = open(PUSH);
            ZMTPProxy proxy = ZMTPProxy.start(frontend, backend);
            PeerSocket push = peer.socket(PUSH);
            push.connect(bind(frontend));
            PeerSocket pull = peer.socket(PULL);
            pull.connect(bind(backend));

            long messages = 0;
            long bytes = 0;
            for (int round = 0; round < ROUNDS; round++) {
                boolean paused = round % 5 == 4;
                if (paused) {
                    get(proxy.pause());
                }
                List<ZMTPMessage> sent = new ArrayList<>();
                for (int i = 0; i < MESSAGES_PER_ROUND; i++) {
                    ZMTPMessage message = randomMessage();
                    push.send(message);
                    sent.add(message);
                    bytes += message.readableBytes();
                }
                if (paused) {
                    assertThat(pull.receive(Patience.RETRY)).isNull();
                    assertThat(proxy.stats().backend().messagesSent()).isEqualTo(messages);
                    get(proxy.resume());
                }
                for (ZMTPMessage message : sent) {
                    assertThat(pull.receive()).isEqualTo(message);
                }
                messages += sent.size();
            }

            assertThat(counts(proxy.stats().frontend())).containsExactly(messages, bytes, 0L, 0L, 0L);
            assertThat(counts(proxy.stats().backend())).containsExactly(0L, 0L, messages, bytes, 0L);
        }
    }

    private static List<Long> counts(ZMTPProxy.SideStats side) {
        return List.of(
                side.messagesReceived(), side.bytesReceived(), side.messagesSent(), side.bytesSent(), side.dropped());
    }

    /** T2, T74. */
    @Tag("T2")
    @Tag("T74")
    @ParameterizedTest
    @EnumSource(names = "OURS", mode = EnumSource.Mode.EXCLUDE)
    void eachReplyIsThatOfItsRequest(SocketPeerKind kind) {
        try (PeerContext peer = kind.open()) {
            ZMTPSocket frontend = open(ROUTER);
            ZMTPSocket backend = open(DEALER);
            ZMTPProxy proxy = ZMTPProxy.start(frontend, backend);
            PeerSocket rep = peer.socket(REP);
            rep.connect(bind(backend));
            String front = bind(frontend);
            List<PeerSocket> askers = List.of(peer.socket(REQ), peer.socket(REQ));
            askers.forEach(asker -> asker.connect(front));

            for (int i = 0; i < REQUESTS; i++) {
                PeerSocket asker = askers.get(i % askers.size());
                ZMTPMessage question = Messages.of("", "question " + i, "");
                ZMTPMessage reply = Messages.of("reply " + i, "");
                asker.send(question);
                assertThat(rep.receive()).isEqualTo(question);
                rep.send(reply);
                assertThat(asker.receive()).isEqualTo(reply);
            }

            ZMTPProxy.Stats stats = proxy.stats();
            assertThat(stats.frontend().messagesReceived()).isEqualTo(REQUESTS);
            assertThat(stats.frontend().messagesSent()).isEqualTo(REQUESTS);
            assertThat(stats.backend().bytesSent()).isEqualTo(stats.frontend().bytesReceived());
            assertThat(stats.frontend().bytesSent()).isEqualTo(stats.backend().bytesReceived());
        }
    }

    /** T5, T74. */
    @Tag("T5")
    @Tag("T74")
    @ParameterizedTest
    @EnumSource(names = "OURS", mode = EnumSource.Mode.EXCLUDE)
    void eachSubscriberGetsItsTopics(SocketPeerKind kind) {
        try (PeerContext peer = kind.open()) {
            ZMTPSocket frontend = open(XSUB);
            ZMTPSocket backend = open(XPUB);
            ZMTPProxy.start(frontend, backend);
            PeerSocket pub = peer.socket(PUB);
            pub.connect(bind(frontend));
            String back = bind(backend);
            List<PeerSocket> subs = new ArrayList<>();
            for (String topic : List.of("A", "AB", "")) {
                PeerSocket sub = peer.socket(SUB);
                sub.subscribe(topic);
                sub.connect(back);
                subs.add(sub);
                awaitSubscribers(backend, subs.size(), sub);
            }
            awaitSubscription(pub, subs.get(2));

            for (String news : List.of("A1", "AB1", "B1", "AB, the end")) {
                pub.send(Messages.of(news));
            }

            assertThat(newsUntilTheEnd(subs.get(0))).containsExactly("A1", "AB1");
            assertThat(newsUntilTheEnd(subs.get(1))).containsExactly("AB1");
            assertThat(newsUntilTheEnd(subs.get(2))).containsExactly("A1", "AB1", "B1");
        }
    }

    /** If its first connection fails, a subscriber subscribes on the next one when its application calls it again. */
    private static void awaitSubscribers(ZMTPSocket publisher, int subscribers, PeerSocket newest) {
        CompletableFuture<Void> heard = publisher.whenPeers(subscribers);
        long deadline = Patience.deadline();
        while (!heard.isDone()) {
            assertThat(Patience.isOver(deadline)).as("patience").isFalse();
            assertThat(newest.receive(Patience.RETRY)).isNull();
        }
    }

    /**
     * A publisher says nothing of its subscriptions: it repeats what only the subscriber of all gets, until it does.
     */
    private static void awaitSubscription(PeerSocket pub, PeerSocket subOfAll) {
        long deadline = Patience.deadline();
        do {
            assertThat(Patience.isOver(deadline)).as("patience").isFalse();
            pub.send(Messages.of(PROBE));
        } while (subOfAll.receive(Patience.RETRY) == null);
    }

    private static List<String> newsUntilTheEnd(PeerSocket sub) {
        List<String> news = new ArrayList<>();
        for (String next = text(sub); !next.equals("AB, the end"); next = text(sub)) {
            if (!next.equals(PROBE)) {
                news.add(next);
            }
        }
        return news;
    }

    private static String text(PeerSocket sub) {
        return new String(Messages.frames(sub.receive()).get(0), java.nio.charset.StandardCharsets.UTF_8);
    }

    /** T3. */
    @Tag("T3")
    @ParameterizedTest
    @EnumSource(names = "OURS", mode = EnumSource.Mode.EXCLUDE)
    void aReplyComesBackThroughTheirProxyAndOurs(SocketPeerKind kind) {
        try (PeerContext peer = kind.open();
                OurPeer us = new OurPeer()) {
            ZMTPSocket frontend = open(ROUTER);
            ZMTPSocket backend = open(DEALER);
            ZMTPProxy.start(frontend, backend);
            int theirs = peer.proxy(bind(frontend));
            String back = bind(backend);
            PeerSocket rep = peer.socket(REP);
            rep.connect(back);

            for (PeerSocket asker : List.of(peer.socket(REQ), us.socket(REQ))) {
                asker.connect(theirs);
                asker.send(Messages.of("how", "", "are you?"));
                assertThat(rep.receive()).isEqualTo(Messages.of("how", "", "are you?"));
                rep.send(Messages.of("", "well"));
                assertThat(asker.receive()).isEqualTo(Messages.of("", "well"));
            }
        }
    }
}
