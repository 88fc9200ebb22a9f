package dev.zmtp.internal.socket.peer;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.WriteGate;
import io.netty.buffer.Unpooled;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Listeners for the room of one peer: each thing that makes room calls them. */
@Tag("netty-4.2-only")
class PeerRoomTest {

    private static final String ENDPOINT = "test://peer-room";
    private static final int LIMIT = 2;

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final WriteGate gate = new WriteGate();
    private ZMTPSocket router;
    private ZMTPSocket dealer;
    private ZMTPPeer peer;
    private int calls;
    private int depth;

    @BeforeEach
    void open() {
        router = loop.open(
                ZMTPSocketConfig.builder(ROUTER).sendQueueLimit(LIMIT, 1 << 20).pipelineInitializer(gate));
        router.bind(ENDPOINT);
        loop.run();
        dealer = loop.open(ZMTPSocketConfig.builder(DEALER));
        dealer.onMessage((from, message) -> message.release());
        dealer.connect(ENDPOINT);
        loop.run();
        peer = router.peers().iterator().next();
    }

    @AfterEach
    void close() {
        loop.close();
    }

    private ZMTPRegistration listen() {
        ZMTPRegistration registration = peer.onWritable(() -> calls++);
        loop.run();
        return registration;
    }

    /** The transport takes no more. */
    private void fillTransport() {
        gate.close();
        peer.sendOrDrop(WriteGate.big("big"));
        loop.run();
    }

    private void fillQueue() {
        for (int i = 0; i < LIMIT; i++) {
            peer.sendOrDrop(message("m"));
        }
        loop.run();
    }

    private void read() {
        gate.open();
        loop.run();
    }

    /** Returns how many messages were taken. */
    private static int sendUntilFull(ZMTPPeer peer) {
        for (int taken = 0; true; taken++) {
            ZMTPMessage message = message("m");
            if (!peer.trySend(message)) {
                message.release();
                return taken;
            }
        }
    }

    @Test
    void aListenerIsCalledSoonIfThereIsRoomAndNotInTheCallThatAddsIt() {
        peer.onWritable(() -> calls++);
        assertThat(calls).isZero();

        loop.run();

        assertThat(calls).isEqualTo(1);
    }

    @Test
    void aFullPeerCallsItWhenItReadsOn() {
        fillTransport();
        fillQueue();
        listen();
        assertThat(calls).as("while it is full").isZero();

        read();

        assertThat(calls).isEqualTo(1);
        assertThat(peer.isWritable()).isTrue();
    }

    @Test
    void aMessageThatIsDroppedOrRefusedHasMissedRoom() {
        listen();
        for (boolean named : new boolean[] {false, true}) {
            calls = 0;
            fillTransport();
            fillQueue();
            if (named) {
                ZMTPMessage late = message("late").prepend(Unpooled.copiedBuffer(peer.routingId()));
                assertThat(router.trySend(late)).isFalse();
                late.release();
            } else {
                peer.sendOrDrop(message("late"));
            }

            read();

            assertThat(calls).as("named: %s", named).isEqualTo(1);
        }
    }

    /** A look changes nothing, so it is called for room that somebody has missed. */
    @Test
    void roomThatNobodyHasMissedCallsNobody() {
        listen();
        calls = 0;
        fillTransport();
        fillQueue();

        read();

        assertThat(calls).isZero();
    }

    @Test
    void aLimitThatIsRaisedCallsIt() {
        fillTransport();
        fillQueue();
        listen();

        router.resizeSendQueue(2 * LIMIT, 1 << 20);
        loop.run();

        assertThat(calls).isEqualTo(1);
    }

    /** On its way to the event loop, each message has a place in the queue that it then does not need. */
    @Test
    void placesOfAnotherThreadThatComeBackCallIt() {
        listen();
        calls = 0;

        int taken = get(CompletableFuture.supplyAsync(() -> sendUntilFull(peer)));
        assertThat(taken).isEqualTo(LIMIT);
        assertThat(calls).isZero();
        loop.run();

        assertThat(calls).isEqualTo(1);
    }

    /** The transport has room again just before they come, so that nothing of them is ever queued. */
    @Test
    void placesThatAreNotNeededCallItAlsoIfItWasAHandlerThatFoundNone() {
        listen();
        calls = 0;
        fillTransport();
        gate.open();
        get(CompletableFuture.runAsync(() -> {
            for (int i = 0; i < LIMIT; i++) {
                assertThat(peer.trySend(message("m"))).isTrue();
            }
        }));
        assertThat(peer.isWritable()).isFalse();

        loop.run();

        assertThat(calls).isEqualTo(1);
    }

    /** The second one may have been refused because the first one had taken a place for a moment. */
    @Test
    void eachRefusalOfAnotherThreadLooksForRoom() {
        PeerSends sends = mock(PeerSends.class);
        SocketContext context =
                ClockedSockets.context(ZMTPSocketConfig.of(ROUTER), router.eventLoop(), System::nanoTime);
        PeerRoom room = new PeerRoom(context, sends, (Peer) peer);
        room.listen(() -> calls++);
        loop.run();
        assertThat(calls).as("as there is no room").isZero();

        when(sends.mayTake((Peer) peer)).thenReturn(true);
        when(sends.isWayOpen()).thenReturn(true);
        get(CompletableFuture.runAsync(room::missed));
        loop.run();

        assertThat(calls).isEqualTo(1);
    }

    /** Its messages wait for another subscriber, so other threads find no room, although the peer has some. */
    @Test
    void aFullWayToTheEventLoopCallsItOnceWhenThereIsRoom() {
        ZMTPSocket pub = loop.open(ZMTPSocketConfig.builder(PUB)
                .overflowPolicy(OverflowPolicy.WAIT)
                .sendQueueLimit(1, 1 << 20)
                .pipelineInitializer(gate));
        pub.bind("test://peer-room-way");
        loop.run();
        for (int i = 0; i < 2; i++) {
            ZMTPSocket sub = loop.open(ZMTPSocketConfig.builder(SUB));
            sub.subscribe(i == 0 ? "slow" : "other");
            sub.onMessage((from, message) -> message.release());
            sub.connect("test://peer-room-way");
            loop.run();
        }
        gate.close();
        pub.sendOrDrop(WriteGate.big("slow"));
        loop.run();
        pub.sendOrDrop(message("slow"));
        loop.run();
        // It waits, and has all the room on the way.
        assertThat(get(CompletableFuture.supplyAsync(() -> pub.trySend(message("slow")))))
                .isTrue();
        loop.run();
        peer = pub.peers().stream()
                .filter(sub -> sub.stats().queued() == 0)
                .findFirst()
                .orElseThrow();
        listen();
        calls = 0;

        for (int i = 0; i < 10; i++) {
            get(CompletableFuture.runAsync(() -> {
                ZMTPMessage message = message("other");
                assertThat(peer.trySend(message)).isFalse();
                message.release();
            }));
            loop.run();
        }
        assertThat(calls).isZero();

        read();
        assertThat(calls).isEqualTo(1);
    }

    @Test
    void aMessageForAPeerThatIsAwayHasMissedRoom() {
        ZMTPSocket connecting = loop.open(ZMTPSocketConfig.builder(ROUTER)
                .queueWhileDown(false)
                .reconnectDelay(Duration.ofMillis(10), Duration.ofMillis(10)));
        dealer.bind("test://peer-room-again");
        peer = connecting.connect("test://peer-room-again").peer();
        loop.advance(Duration.ofMillis(50));
        listen();
        peer.close();
        loop.run();
        calls = 0;

        peer.sendOrDrop(message("lost"));
        loop.advance(Duration.ofMillis(50));

        assertThat(connecting.stats().dropped()).isEqualTo(1);
        assertThat(calls).isEqualTo(1);
    }

    /** They have a place in the queue of each subscriber until the end of the task. */
    @Test
    void messagesThatWereGatheredForManyCallItWhenTheyHaveLeft() {
        int limit = 64;
        ZMTPSocket pub = loop.open(ZMTPSocketConfig.builder(PUB).sendQueueLimit(limit, 1 << 20));
        pub.bind("test://peer-room-many");
        loop.run();
        for (int i = 0; i < 20; i++) {
            ZMTPSocket sub = loop.open(ZMTPSocketConfig.builder(SUB));
            sub.subscribe("");
            sub.onMessage((from, message) -> message.release());
            sub.connect("test://peer-room-many");
        }
        loop.run();
        peer = pub.peers().iterator().next();
        listen();
        calls = 0;

        for (int i = 0; i < limit; i++) {
            pub.sendOrDrop(message("m"));
        }
        assertThat(peer.isWritable()).isFalse();
        loop.run();

        assertThat(calls).isEqualTo(1);
    }

    /** 64 times what a queue may have may be on its way. */
    @Test
    void creditThatComesBackCallsIt() {
        listen();
        calls = 0;

        get(CompletableFuture.runAsync(() -> {
            for (int i = 0; i < 100 * LIMIT; i++) {
                peer.sendOrDrop(message("m"));
            }
        }));
        assertThat(peer.stats().dropped() + router.stats().dropped())
                .as("too many")
                .isPositive();
        loop.run();

        assertThat(calls).isEqualTo(1);
    }

    @Test
    void aPeerThatIsBackCallsIt() {
        ZMTPSocket connecting = loop.open(ZMTPSocketConfig.builder(ROUTER)
                .queueWhileDown(false)
                .reconnectDelay(Duration.ofMillis(10), Duration.ofMillis(10)));
        ZMTPEndpoint endpoint = connecting.connect("test://peer-room-back");
        peer = endpoint.peer();
        listen();
        loop.advance(Duration.ofMillis(50));
        assertThat(calls).as("while it is away").isZero();

        dealer.bind("test://peer-room-back");
        loop.advance(Duration.ofMillis(50));

        assertThat(calls).isEqualTo(1);
    }

    /** The peer reads faster than a handler sends, so it always has room. */
    @Test
    void aLoopOverItEndsAfterAsManyMessagesAsOneTaskSends() {
        List<Integer> sent = new ArrayList<>();
        int many = 5 * LoopBudget.MESSAGES;
        peer.onWritable(() -> {
            int count = 0;
            while (peer.isWritable() && sent.stream().mapToInt(i -> i).sum() + count < many) {
                peer.sendOrDrop(message("m"));
                count++;
            }
            sent.add(count);
        });

        loop.run();

        assertThat(sent.stream().mapToInt(i -> i).sum()).isEqualTo(many);
        assertThat(sent).allMatch(count -> count <= LoopBudget.MESSAGES).hasSizeGreaterThan(4);
    }

    @Test
    void aListenerIsNotCalledInsideItself() {
        List<Integer> depths = new ArrayList<>();
        fillTransport();
        fillQueue();
        peer.onWritable(() -> {
            depths.add(++depth);
            if (depths.size() < 5) {
                gate.close();
                sendUntilFull(peer);
                gate.open();
                router.resizeSendQueue(LIMIT + depths.size(), 1 << 20);
                if (depths.size() == 2) {
                    peer.onWritable(() -> depths.add(10 + depth));
                }
            }
            depth--;
        });

        read();

        assertThat(depths).hasSizeGreaterThan(4).allMatch(at -> at == 1 || at == 10);
    }

    @Test
    void oneThatThrowsIsCalledAgainAndOthersToo() {
        fillTransport();
        fillQueue();
        peer.onWritable(() -> {
            throw new IllegalStateException("of a listener");
        });
        listen();

        read();

        assertThat(calls).isEqualTo(1);
    }

    @Test
    void oneThatIsClosedIsNotCalled() {
        peer.onWritable(() -> calls++).close();
        loop.run();
        assertThat(calls).as("closed at once").isZero();
        fillTransport();
        fillQueue();
        ZMTPRegistration registration = listen();

        registration.close();
        registration.close();
        read();

        assertThat(calls).isZero();
    }

    @Test
    void itIsForTypesThatSendToOnePeer() {
        assertThatThrownBy(() -> dealer.peers().iterator().next().onWritable(() -> {}))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage("onWritable: not with DEALER (expected: ROUTER, SERVER, PEER, PUB or XPUB)");
    }

    @Test
    void aSecondCloseOfARegistrationDoesNotEndAnotherOfTheSameListener() {
        Runnable listener = () -> calls++;
        ZMTPRegistration first = peer.onWritable(listener);
        peer.onWritable(listener);
        first.close();
        first.close();
        loop.run();
        fillTransport();
        fillQueue();
        assertThat(peer.isWritable()).isFalse();
        calls = 0;

        read();

        assertThat(calls).isEqualTo(1);
    }
}
