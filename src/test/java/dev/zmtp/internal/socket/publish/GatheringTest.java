package dev.zmtp.internal.socket.publish;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.message;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.transport.QueueLimit;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.OtherThread;
import dev.zmtp.testing.WriteGate;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A publisher with so many subscribers that it gathers the messages of a turn. */
@Tag("netty-4.2-only")
class GatheringTest {

    private static final int SUBSCRIBERS = 20;

    /** This many bytes are too many for the channel's water mark. */
    private static final int BIG = 2_000;

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final WriteGate gate = new WriteGate();
    private final List<List<String>> received = new ArrayList<>();
    private ZMTPSocket xpub;

    @BeforeEach
    void publish() {
        xpub = open(ZMTPSocketConfig.builder(XPUB));
    }

    private ZMTPSocket open(ZMTPSocketConfig.Builder config) {
        return open(config, "inproc://news");
    }

    private ZMTPSocket open(ZMTPSocketConfig.Builder config, String endpoint) {
        ZMTPSocket socket = loop.open(config.pipelineInitializer(gate)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(BIG / 4, BIG / 2)));
        socket.bind(endpoint);
        return socket;
    }

    @AfterEach
    void close() {
        loop.close();
    }

    /** Returns the peer that the publisher has for it. */
    private ZMTPPeer subscribe(String... topics) {
        List<ZMTPPeer> before = List.copyOf(xpub.peers());
        ZMTPSocket sub = loop.open(ZMTPSocketConfig.builder(SUB));
        List<String> its = new ArrayList<>();
        received.add(its);
        sub.onMessage((from, message) -> its.add(frames(message).get(0).split("\0", 2)[0]));
        for (String topic : topics) {
            sub.subscribe(topic);
        }
        sub.connect("inproc://news");
        loop.run();
        List<ZMTPPeer> now = new ArrayList<>(xpub.peers());
        now.removeAll(before);
        assertThat(now).hasSize(1);
        return now.get(0);
    }

    private List<ZMTPPeer> subscribeAll() {
        return IntStream.range(0, SUBSCRIBERS).mapToObj(i -> subscribe("")).toList();
    }

    private static ZMTPMessage big(String text) {
        return big(text, BIG);
    }

    private static ZMTPMessage big(String text, int length) {
        return ZMTPMessage.from(Unpooled.wrappedBuffer(Arrays.copyOf(text.getBytes(StandardCharsets.UTF_8), length)));
    }

    @Test
    void aMessageThatItsSenderReleasesOnceTooOftenDoesNotStopTheOthers() {
        subscribeAll();
        ZMTPMessage released = message("released");
        loop.eventLoop().execute(() -> {
            xpub.sendOrDrop(message("before"));
            xpub.sendOrDrop(released);
            xpub.sendOrDrop(message("after"));
            released.release();
        });

        loop.run();

        assertThat(received).containsOnly(List.of("before", "after"));
        assertThat(xpub.stats().dropped()).isEqualTo(SUBSCRIBERS);
    }

    /** The one with the short queue is sent to at once, which leads to a send that ends what is gathered. */
    @Test
    void aSendFromInsideAnotherChangesNothingForThose() {
        List<ZMTPPeer> peers = subscribeAll();
        ((Peer) peers.get(3)).queue().limit(new QueueLimit(10, 16 << 20));
        loop.run();
        peers.get(3).sendAsync(message("for you")).thenRun(() -> xpub.sendOrDrop(big("nested", 30_000)));
        xpub.sendOrDrop(big("first", 40_000));

        loop.run();

        assertThat(received.get(3)).containsExactly("for you", "first", "nested");
        received.remove(3);
        assertThat(received).containsOnly(List.of("first", "nested"));
    }

    @Test
    void eachSubscriberGetsItsMessagesInOrder() {
        subscribeAll();
        for (int i = 0; i < SUBSCRIBERS; i++) {
            subscribe("odd");
        }
        List<String> all = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            String text = (i % 3 == 0 ? "odd " : "even ") + i;
            all.add(text);
            assertThat(xpub.trySend(message(text))).isTrue();
        }

        loop.run();

        List<String> odd = all.stream().filter(text -> text.startsWith("odd")).toList();
        assertThat(received.subList(0, SUBSCRIBERS)).containsOnly(all);
        assertThat(received.subList(SUBSCRIBERS, 2 * SUBSCRIBERS)).containsOnly(odd);
    }

    @Test
    void largeMessagesComeInTheirPlaces() {
        subscribeAll();
        gate.close();
        xpub.sendOrDrop(message("first"));
        xpub.sendOrDrop(WriteGate.big("large"));
        xpub.sendOrDrop(message("last"));
        gate.open();
        loop.run();
        assertThat(received).containsOnly(List.of("first", "large", "last"));
    }

    @Test
    void aMessageToOneOfThemComesInItsPlace() {
        List<ZMTPPeer> peers = subscribeAll();
        xpub.sendOrDrop(message("before"));
        peers.get(3).sendAsync(message("for you"));
        xpub.sendOrDrop(message("after"));

        loop.run();

        assertThat(received.get(3)).containsExactly("before", "for you", "after");
        assertThat(received.get(4)).containsExactly("before", "after");
    }

    @Test
    void messagesOfAnotherThreadKeepTheirOrder() throws Throwable {
        List<ZMTPPeer> peers = subscribeAll();
        OtherThread.call(() -> {
            xpub.sendOrDrop(message("before"));
            peers.get(3).sendOrDrop(message("for you"));
            xpub.sendOrDrop(message("after"));
        });

        loop.run();

        assertThat(received.get(3)).containsExactly("before", "for you", "after");
        assertThat(received.get(4)).containsExactly("before", "after");
    }

    @Test
    void whatIsSentFromInsideAWriteComesAfterWhatWasGathered() {
        List<ZMTPPeer> peers = subscribeAll();
        xpub.sendOrDrop(message("first"));
        peers.get(3).sendAsync(message("for you")).thenRun(() -> xpub.sendOrDrop(message("nested")));
        xpub.sendOrDrop(big("fills"));
        xpub.sendOrDrop(message("after"));

        loop.run();

        assertThat(received.get(2)).containsExactly("first", "fills", "after", "nested");
        assertThat(received.get(3)).containsExactly("first", "for you", "fills", "after", "nested");
        assertThat(received.get(4)).containsExactly("first", "fills", "after", "nested");
    }

    @Test
    void whatWasGatheredForASubscriberThatIsGoneCountsAsDropped() {
        List<ZMTPPeer> peers = subscribeAll();
        xpub.sendOrDrop(message("lost"));

        ZMTPPeer gone = peers.get(3);
        ClockedSockets.core(xpub).down(requireNonNull(((Peer) gone).link()), (Peer) gone, new IOException());
        loop.run();

        assertThat(gone.stats().dropped()).isEqualTo(1);
        assertThat(received.get(2)).containsExactly("lost");
    }

    @Test
    void aSubscriberThatLeavesInTheSameTurnCostsTheOthersNothing() {
        List<ZMTPPeer> peers = subscribeAll();
        xpub.sendOrDrop(message("before"));
        peers.get(3).close();
        xpub.sendOrDrop(message("after"));

        loop.run();

        assertThat(received.get(2)).containsExactly("before", "after");
        assertThat(received.get(3)).startsWith("before");
        assertThat(peers.get(3).stats().written()
                        + peers.get(3).stats().dropped()
                        + peers.get(3).stats().outcomeUnknown())
                .isEqualTo(2);
    }

    @Test
    void whatIsGatheredIsDeliveredIfTheSocketIsClosedInTheSameTurn() throws Throwable {
        subscribeAll();
        OtherThread.call(() -> xpub.sendOrDrop(message("last")));

        xpub.closeAsync(Duration.ofSeconds(1));
        loop.advance(Duration.ofMillis(100));

        assertThat(received).containsOnly(List.of("last"));
    }

    @Test
    void whatIsGatheredIsDeliveredIfAConnectorIsClosedInTheSameTurn() throws Throwable {
        List<ZMTPEndpoint> connectors = new ArrayList<>();
        for (int i = 0; i < SUBSCRIBERS; i++) {
            ZMTPSocket sub = loop.open(ZMTPSocketConfig.builder(SUB));
            List<String> its = new ArrayList<>();
            received.add(its);
            sub.onMessage((from, message) -> its.addAll(frames(message)));
            sub.subscribe("");
            sub.bind("inproc://" + i);
            connectors.add(xpub.connect("inproc://" + i));
        }
        loop.run();
        OtherThread.call(() -> xpub.sendOrDrop(message("last")));

        connectors.get(3).close();
        loop.run();

        assertThat(received).containsOnly(List.of("last"));
    }

    /** All of them would not fit in its queue, if its connection took none of them. */
    @ParameterizedTest(name = "{0} messages, {1} bytes")
    @CsvSource({"4, 1000000", "1000, 24"})
    void aSubscriberWithAShortQueueIsNotMadeToTakeMore(int messages, long bytes) {
        xpub.closeAsync(Duration.ZERO);
        loop.advance(Duration.ofMillis(100));
        xpub = open(
                ZMTPSocketConfig.builder(XPUB).sendQueueLimit(messages, bytes).overflowPolicy(OverflowPolicy.DROP_NEW));
        List<ZMTPPeer> peers = subscribeAll();
        gate.close();
        xpub.sendOrDrop(big("fills"));
        for (int i = 0; i < 10; i++) {
            xpub.sendOrDrop(message("more " + i));
        }

        assertThat(peers).allSatisfy(peer -> {
            assertThat(peer.stats().queued()).isEqualTo(4);
            assertThat(peer.stats().dropped()).isEqualTo(6);
        });
        gate.open();
        loop.run();
        assertThat(received).containsOnly(List.of("fills", "more 0", "more 1", "more 2", "more 3"));
    }

    @Test
    void aPublisherThatWaitsKeepsToTheLimitOfTheSlowest() {
        xpub.closeAsync(Duration.ZERO);
        loop.advance(Duration.ofMillis(100));
        xpub = open(ZMTPSocketConfig.builder(XPUB).sendQueueLimit(100, 16 << 20).overflowPolicy(OverflowPolicy.WAIT));
        List<ZMTPPeer> peers = subscribeAll();
        gate.close();
        int sent = 0;
        ZMTPMessage next = big("0");
        while (xpub.trySend(next)) {
            sent++;
            if (sent % 50 == 0) {
                loop.run();
            }
            next = message("" + sent);
        }
        next.release();

        assertThat(peers).allSatisfy(peer -> assertThat(peer.stats().queued()).isLessThanOrEqualTo(100));
        gate.open();
        loop.run();
        assertThat(received)
                .containsOnly(IntStream.range(0, sent).mapToObj(i -> "" + i).toList());
    }

    @Test
    void aMessageThatWaitsForTheQueuesOfThoseIsSentAfterThem() {
        ZMTPSocket pub = loop.open(ZMTPSocketConfig.builder(PUB)
                .overflowPolicy(OverflowPolicy.WAIT)
                .sendQueueLimit(Gathering.MAX_MESSAGES, 16 << 20));
        pub.bind("inproc://all");
        List<String> odd = new ArrayList<>();
        for (int i = 0; i < SUBSCRIBERS; i++) {
            ZMTPSocket sub = loop.open(ZMTPSocketConfig.builder(SUB));
            List<String> its = i == 0 ? odd : new ArrayList<>();
            sub.onMessage((from, message) -> its.addAll(frames(message)));
            sub.subscribe("odd");
            if (i == 0) {
                sub.subscribe("even");
            }
            sub.connect("inproc://all");
        }
        loop.run();
        for (int i = 0; i < Gathering.MAX_MESSAGES; i++) {
            assertThat(pub.trySend(message("odd"))).isTrue();
        }

        CompletableFuture<Void> sent = pub.sendAsync(message("even"));
        assertThat(sent).isNotDone();
        loop.run();

        assertThat(sent).isCompleted();
        assertThat(odd).hasSize(Gathering.MAX_MESSAGES + 1).endsWith("even");
    }

    /** Otherwise the loop of the test would not end. */
    @Test
    void aMessageThatWaitsForAFullSubscriberCausesNoTasks() {
        ZMTPSocket pub = open(
                ZMTPSocketConfig.builder(PUB)
                        .overflowPolicy(OverflowPolicy.WAIT)
                        .sendQueueLimit(1, 16 << 20),
                "inproc://waiting");
        for (int i = 0; i < SUBSCRIBERS; i++) {
            ZMTPSocket sub = loop.open(ZMTPSocketConfig.builder(SUB));
            sub.subscribe("");
            sub.onMessage((from, message) -> message.release());
            sub.connect("inproc://waiting");
        }
        loop.run();
        gate.close();
        pub.sendOrDrop(WriteGate.big("with the transport"));
        loop.run();
        pub.sendOrDrop(message("in the queues"));
        loop.run();
        pub.onWritable(() -> {
            ZMTPMessage refused = message("refused");
            if (!pub.trySend(refused)) {
                refused.release();
            }
        });
        loop.run();

        CompletableFuture<Void> waits = pub.sendAsync(message("waits"));
        loop.run();

        assertThat(waits).isNotDone();
        gate.open();
        loop.run();
        assertThat(waits).isCompleted();
    }
}
