package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPProxy;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.WriteGate;
import io.netty.channel.ChannelPipeline;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the application does in the middle of a send: a write may flush, and that may notify it of an earlier one. */
@Tag("netty-4.2-only")
class NestedSendsTest {

    private final WriteGate gate = new WriteGate();

    private final List<String> free = new ArrayList<>();
    private final List<String> held = new ArrayList<>();

    /** A publisher with a subscriber that reads, and one that is held when the gate is closed. */
    private ZMTPSocket publisher(ZMTPTestLoop loop, ZMTPSocketConfig.Builder config) {
        int[] connections = {0};
        BiConsumer<ZMTPEndpoint, ChannelPipeline> second = (endpoint, pipeline) -> {
            if (++connections[0] == 2) {
                gate.accept(endpoint, pipeline);
            }
        };
        ZMTPSocket xpub = loop.open(config.pipelineInitializer(second));
        xpub.bind("inproc://all");
        subscriber(loop, free);
        subscriber(loop, held);
        return xpub;
    }

    /** The message was accepted for all subscribers, and the other one finds no room at the second. */
    @Test
    void aMessageThatWaitsForAllReachesAllThoughAnotherComesInBetween() {
        try (ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            ZMTPSocket xpub = publisher(
                    loop,
                    ZMTPSocketConfig.builder(XPUB)
                            .overflowPolicy(OverflowPolicy.WAIT)
                            .sendQueueLimit(1, 16 << 20));
            List<ZMTPPeer> peers = new ArrayList<>(xpub.peers());
            gate.close();
            for (ZMTPPeer peer : peers) {
                peer.sendAsync(WriteGate.big("fills"));
            }
            loop.run();
            ZMTPPeer writable = peers.stream()
                    .filter(peer -> peer.stats().written() == 1)
                    .findFirst()
                    .orElseThrow();
            ZMTPMessage between = message("between");
            writable.sendAsync(message("before")).thenRun(() -> {
                if (!xpub.trySend(between)) {
                    between.release();
                }
            });

            assertThat(xpub.trySend(WriteGate.big("all"))).isTrue();

            gate.open();
            loop.run();
            assertThat(free).containsExactly("fills", "before", "all");
            assertThat(held).containsExactly("fills", "all");
        }
    }

    /** The first of them is written to a full channel, whose flush notifies the sender of an earlier message. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void allSubscribersGetMessagesInOneOrder(int notified) {
        try (ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            ZMTPSocket xpub = publisher(loop, ZMTPSocketConfig.builder(XPUB));
            ZMTPPeer peer = List.copyOf(xpub.peers()).get(notified);
            peer.sendAsync(message("earlier")).thenRun(() -> xpub.sendOrDrop(message("between")));

            xpub.sendOrDrop(WriteGate.big("all"));

            loop.run();
            assertThat(free).endsWith("all", "between");
            assertThat(held).endsWith("all", "between");
        }
    }

    /** The flush of what was gathered before notifies the sender of an earlier message. */
    @ParameterizedTest
    @ValueSource(ints = {1, 128 << 10})
    void manySubscribersGetMessagesInOneOrder(int length) {
        try (ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            ZMTPSocket xpub = publisher(loop, ZMTPSocketConfig.builder(XPUB));
            List<List<String>> others = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                others.add(new ArrayList<>());
                subscriber(loop, others.get(i));
            }
            for (ZMTPPeer peer : List.copyOf(xpub.peers())) {
                peer.sendAsync(message("earlier")).thenRun(() -> xpub.sendOrDrop(message("between")));
            }

            xpub.sendOrDrop(message("gathered\0" + "x".repeat((64 << 10) - 9)));
            xpub.sendOrDrop(message("all\0" + "x".repeat(length)));

            loop.run();
            others.add(free);
            others.add(held);
            assertThat(others)
                    .allSatisfy(received -> assertThat(received)
                            .startsWith("earlier", "gathered", "all", "between")
                            .hasSize(3 + 22));
        }
    }

    /** There is room for them, as they were gathered. */
    @Test
    void asManyMessagesAsAreGatheredDoNotFillAQueueOfThatLength() {
        try (ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            ZMTPSocket xpub = publisher(
                    loop,
                    ZMTPSocketConfig.builder(XPUB)
                            .overflowPolicy(OverflowPolicy.WAIT)
                            .sendQueueLimit(64, 1 << 20));
            for (int i = 0; i < 20; i++) {
                subscriber(loop, new ArrayList<>());
            }

            for (int i = 0; i < 200; i++) {
                assertThat(xpub.trySend(message("all"))).isTrue();
            }

            loop.run();
            assertThat(free).hasSize(200);
        }
    }

    @Test
    void aMessageToASubscriberComesAfterTheOneThatIsBeingSentToAll() {
        try (ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            ZMTPSocket xpub = publisher(loop, ZMTPSocketConfig.builder(XPUB));
            List<ZMTPPeer> peers = List.copyOf(xpub.peers());
            for (ZMTPPeer peer : peers) {
                peer.sendAsync(message("earlier"))
                        .thenRun(() -> peers.forEach(each -> each.sendOrDrop(message("between"))));
            }

            xpub.sendOrDrop(WriteGate.big("all"));

            loop.run();
            assertThat(free).containsExactly("earlier", "all", "between", "between");
            assertThat(held).containsExactly("earlier", "all", "between", "between");
        }
    }

    private static void subscriber(ZMTPTestLoop loop, List<String> received) {
        ZMTPSocket sub = loop.open(ZMTPSocketConfig.builder(SUB));
        sub.onMessage((from, message) -> received.add(frames(message).get(0).split("\0", 2)[0]));
        sub.subscribe("");
        sub.connect("inproc://all");
        loop.run();
    }

    /** And what is being sent is not returned as well. */
    @Test
    void aProxyThatIsClosedInTheMiddleOfASendReturnsOnlyTheRest() {
        try (ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            ZMTPSocket front = loop.open(ZMTPSocketConfig.builder(PULL));
            ZMTPSocket back = loop.open(ZMTPSocketConfig.builder(PUSH));
            ZMTPSocket end = loop.open(ZMTPSocketConfig.builder(PULL));
            List<String> received = new ArrayList<>();
            end.onMessage((from, message) -> received.add(frames(message).get(0).split("\0", 2)[0]));
            end.bind("inproc://end");
            back.connect("inproc://end");
            front.bind("inproc://front");
            ZMTPSocket source = loop.open(ZMTPSocketConfig.builder(PUSH));
            source.connect("inproc://front");
            loop.run();
            ZMTPProxy proxy = ZMTPProxy.start(front, back);
            loop.run();
            back.sendAsync(message("before")).thenRun(proxy::close);

            ClockedSockets.core(front).received((Peer) front.peers().iterator().next(), WriteGate.big("forwarded"));
            loop.run();

            assertThat(proxy.closeFuture()).isCompleted();
            assertThat(received).containsExactly("before", "forwarded");
            List<ZMTPMessage> returned = new ArrayList<>();
            front.onMessage((from, message) -> returned.add(message));
            loop.run();
            assertThat(returned).isEmpty();
        }
    }
}
