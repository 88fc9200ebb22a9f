package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.testing.TestSockets.failure;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.OtherThread;
import dev.zmtp.testing.WriteGate;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.util.IllegalReferenceCountException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of messages of other threads when they come to the event loop, in virtual time. */
@Tag("netty-4.2-only")
class OnTheWayTest {

    private static final String ENDPOINT = "test://on-the-way";

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final WriteGate gate = new WriteGate();

    @AfterEach
    void close() {
        gate.open();
        loop.close();
    }

    private ZMTPSocket bound(ZMTPSocketConfig.Builder config) {
        ZMTPSocket socket = loop.open(config);
        socket.bind(ENDPOINT);
        loop.run();
        return socket;
    }

    /** Returns what the subscriber receives. */
    private List<String> subscribe() {
        List<String> received = new ArrayList<>();
        ZMTPSocket sub = loop.open(ZMTPSocketConfig.builder(SUB));
        sub.onMessage((from, message) -> received.add(WriteGate.text(message)));
        sub.subscribe("");
        sub.connect(ENDPOINT);
        loop.run();
        return received;
    }

    /** Connects a DEALER, and returns it as the peer of the router. */
    private ZMTPPeer onlyPeer(ZMTPSocket router) {
        loop.open(ZMTPSocketConfig.builder(DEALER)).connect(ENDPOINT);
        loop.run();
        return router.peers().iterator().next();
    }

    @Test
    void oneThatItsSenderHasReleasedStopsNoOthers() throws Throwable {
        ZMTPSocket xpub = bound(ZMTPSocketConfig.builder(XPUB));
        List<String> received = subscribe();
        List<CompletableFuture<Void>> sent = new ArrayList<>();

        OtherThread.call(() -> {
            ZMTPMessage released = message("released");
            sent.add(xpub.sendAsync(released));
            released.release();
            ZMTPMessage alsoReleased = message("released");
            xpub.sendOrDrop(alsoReleased);
            alsoReleased.release();
            xpub.sendOrDrop(message("good"));
        });
        loop.run();

        assertThat(failure(sent.get(0))).isInstanceOf(IllegalReferenceCountException.class);
        assertThat(received).containsExactly("good");
        assertThat(xpub.stats().dropped()).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource(
            value = OverflowPolicy.class,
            names = {"DROP_NEW", "DISCONNECT", "WAIT"})
    void futuresOfAPublisherWaitForRoomOnTheWay(OverflowPolicy policy) throws Throwable {
        ZMTPSocket xpub = bound(ZMTPSocketConfig.builder(XPUB)
                .overflowPolicy(policy)
                .sendQueueLimit(10, 1_000)
                .maxWaitingSends(30));
        List<String> received = subscribe();
        List<String> wanted = IntStream.range(0, 30)
                .mapToObj(i -> "%0300d".formatted(i))
                .toList(); // 9,000 bytes, and four times the limit are on their way at a time
        List<CompletableFuture<Void>> sent = new ArrayList<>();

        OtherThread.call(() -> wanted.forEach(text -> sent.add(xpub.sendAsync(message(text)))));
        loop.run();

        assertThat(sent).allSatisfy(each -> assertThat(each).isCompleted());
        assertThat(received).containsExactlyElementsOf(wanted);
    }

    /** It is copied when it is queued, because it would keep the large buffer. */
    @Test
    void oneForAPeerWhoseBufferItsSenderHasReleasedFails() throws Throwable {
        ZMTPSocket router = bound(ZMTPSocketConfig.builder(ROUTER).pipelineInitializer(gate));
        ZMTPPeer peer = onlyPeer(router);
        gate.close();
        peer.sendOrDrop(WriteGate.big("transport"));
        List<CompletableFuture<Void>> sent = new ArrayList<>();

        OtherThread.call(() -> {
            ByteBuf large = PooledByteBufAllocator.DEFAULT.buffer(8 << 10).writeZero(8 << 10);
            sent.add(peer.sendAsync(ZMTPMessage.from(large.slice(0, 1_000))));
            large.release();
            sent.add(peer.sendAsync(message("good")));
        });
        loop.run();

        assertThat(sent.get(0)).isCompletedExceptionally();
        assertThat(failure(sent.get(0))).isInstanceOf(IllegalReferenceCountException.class);
        assertThat(router.stats().dropped()).isEqualTo(1);
        assertThat(sent.get(1)).as("it waits").isNotDone();
        assertThat(peer.stats().queued()).isEqualTo(1);
    }

    /** Of all peers, and of one: the loop takes none of them before the last. */
    @ParameterizedTest
    @EnumSource(names = {"DROP_OLD", "KEEP_LATEST"})
    void theNewestOfManyArrivesWhateverTheSenderOfAReplacedOneSends(OverflowPolicy policy) throws Throwable {
        ZMTPSocket pub =
                bound(ZMTPSocketConfig.builder(PUB).overflowPolicy(policy).sendQueueLimit(1, 1 << 20));
        List<String> received = subscribe();
        AtomicInteger sent = new AtomicInteger();
        Supplier<ZMTPMessage> next = () -> message("" + sent.getAndIncrement());

        OtherThread.call(() -> {
            pub.sendAsync(next.get()).whenComplete((none, replaced) -> pub.sendOrDrop(next.get()));
            while (sent.get() < 70) {
                pub.sendOrDrop(next.get());
            }
        });
        loop.run();

        assertThat(received.stream().map(Integer::valueOf)).isSorted().last().isEqualTo(sent.get() - 1);
    }

    @Test
    void theNewestOfManyToOneSubscriberArrives() throws Throwable {
        ZMTPSocket pub = bound(ZMTPSocketConfig.builder(PUB)
                .overflowPolicy(OverflowPolicy.KEEP_LATEST)
                .sendQueueLimit(1, 1 << 20));
        List<String> received = subscribe();
        ZMTPPeer peer = pub.peers().iterator().next();

        OtherThread.call(() -> {
            for (int i = 0; i < 200; i++) {
                peer.sendOrDrop(message("" + i));
            }
        });
        loop.run();

        assertThat(received).last().isEqualTo("199");
    }

    @ParameterizedTest
    @EnumSource(names = {"DROP_OLD", "KEEP_LATEST"})
    void theNewestForAFullPeerArrivesWhateverTheSenderOfAReplacedOneSends(OverflowPolicy policy) {
        ZMTPSocket router = bound(ZMTPSocketConfig.builder(ROUTER)
                .overflowPolicy(policy)
                .sendQueueLimit(1, 1 << 20)
                .pipelineInitializer(gate));
        List<String> received = new ArrayList<>();
        ZMTPSocket dealer = loop.open(ZMTPSocketConfig.builder(DEALER));
        dealer.onMessage((from, message) -> received.add(WriteGate.text(message)));
        dealer.connect(ENDPOINT);
        loop.run();
        ZMTPPeer peer = router.peers().iterator().next();
        gate.close();
        peer.sendOrDrop(WriteGate.big("transport"));
        peer.sendAsync(message("replaced")).whenComplete((none, replaced) -> peer.sendOrDrop(message("newest")));

        peer.sendOrDrop(message("newer"));

        gate.open();
        loop.run();
        assertThat(received).containsExactly("transport", "newest");
    }

    @Test
    void oneInLineThatItsSenderHasReleasedStopsNoOthers() {
        WriteGate gate = new WriteGate();
        ZMTPSocket xpub = bound(ZMTPSocketConfig.builder(XPUB)
                .overflowPolicy(OverflowPolicy.WAIT)
                .sendQueueLimit(1, 1 << 20)
                .pipelineInitializer(gate));
        List<String> received = subscribe();
        gate.close();
        xpub.sendOrDrop(WriteGate.big("big"));
        xpub.sendOrDrop(message("queued"));
        ZMTPMessage released = message("released");
        CompletableFuture<Void> sent = xpub.sendAsync(released);
        released.release();
        loop.run();
        assertThat(sent).as("it waits").isNotDone();

        gate.open();
        loop.run();

        assertThat(failure(sent)).isInstanceOf(IllegalReferenceCountException.class);
        assertThat(xpub.trySend(message("good"))).isTrue();
        loop.run();
        assertThat(received).endsWith("good");
    }

    /** They are more than one queue may have, and fewer than the queues of all peers together. */
    @Test
    void aBurstForFiftyPeersThatReadLosesNothing() throws Throwable {
        int peers = 50;
        int each = 200;
        ZMTPSocket router = bound(ZMTPSocketConfig.builder(ROUTER));
        AtomicInteger received = new AtomicInteger();
        for (int i = 0; i < peers; i++) {
            ZMTPSocket dealer = loop.open(ZMTPSocketConfig.builder(DEALER));
            dealer.onMessage((from, message) -> {
                received.incrementAndGet();
                message.release();
            });
            dealer.connect(ENDPOINT);
        }
        loop.run();

        OtherThread.call(() -> {
            for (int i = 0; i < each; i++) {
                router.peers()
                        .forEach(peer ->
                                assertThat(peer.trySend(message("burst"))).isTrue());
            }
        });
        loop.run();

        assertThat(received).hasValue(peers * each);
        assertThat(router.stats().dropped()).isZero();
    }

    @Test
    void thoseThatAPublisherHasNoRoomForWaitInTheirOrder() throws Throwable {
        ZMTPSocket xpub = bound(ZMTPSocketConfig.builder(XPUB)
                .overflowPolicy(OverflowPolicy.WAIT)
                .sendQueueLimit(4, 1 << 20)
                .pipelineInitializer(gate));
        List<String> received = subscribe();
        gate.close();
        xpub.sendOrDrop(WriteGate.big("transport"));
        for (int i = 0; i < 4; i++) {
            xpub.sendOrDrop(message("queued"));
        }
        loop.run();

        OtherThread.call(() -> {
            for (int i = 0; i < 3; i++) {
                assertThat(xpub.trySend(message("held " + i))).isTrue();
            }
        });
        loop.run();
        assertThat(xpub.stats().queued()).isEqualTo(7);

        gate.open();
        loop.run();

        assertThat(received)
                .containsExactly("transport", "queued", "queued", "queued", "queued", "held 0", "held 1", "held 2");
        assertThat(xpub.stats().queued()).isZero();
        assertThat(xpub.stats().dropped()).isZero();
    }

    /** The thread that is refused takes the last room for a moment, in which the event loop finds none for a peer. */
    @Test
    void aThreadThatIsRefusedHasTheListenersOfPeersCalled() throws Throwable {
        ZMTPSocket router = bound(ZMTPSocketConfig.builder(ROUTER));
        ZMTPPeer peer = onlyPeer(router);
        AtomicInteger calls = new AtomicInteger();
        peer.onWritable(calls::incrementAndGet);
        loop.run();
        calls.set(0);
        Senders senders = ClockedSockets.core(router).senders();
        int all = senders.limit().messages();
        senders.credit().give(-all, 0);
        OtherThread.call(() -> assertThat(peer.isWritable()).isFalse());
        loop.run();
        assertThat(calls).hasValue(0);

        senders.credit().give(all, 0);
        OtherThread.call(senders::refused);
        loop.run();

        assertThat(calls).hasValue(1);
    }

    @Test
    void oneToAPeerThatHasLeftInTheMeantimeIsDropped() throws Throwable {
        ZMTPSocket router = bound(ZMTPSocketConfig.builder(ROUTER));
        ZMTPPeer peer = onlyPeer(router);
        ZMTPMessage message = message("late");
        OtherThread.call(() -> assertThat(peer.trySend(message)).isTrue());

        ((Peer) peer).disconnect("it leaves");
        loop.run();

        assertThat(message.refCnt()).isZero();
        assertThat(router.stats().dropped()).isEqualTo(1);
    }

    /** A frame whose length is read by code that looks at something else at this moment. */
    private static final class Watched extends UnpooledHeapByteBuf {
        private final Runnable look;

        Watched(Runnable look) {
            super(UnpooledByteBufAllocator.DEFAULT, 1, 1);
            this.look = look;
        }

        @Override
        public int readableBytes() {
            look.run();
            return super.readableBytes();
        }
    }

    /** Otherwise, a thread that sends at this moment finds room in a full queue. */
    @Test
    void oneThatComesToTheQueueOfItsPeerHasItsPlaceAllTheTime() throws Throwable {
        ZMTPSocket router = bound(
                ZMTPSocketConfig.builder(ROUTER).sendQueueLimit(1, 1 << 20).pipelineInitializer(gate));
        Peer peer = (Peer) onlyPeer(router);
        gate.close();
        peer.sendOrDrop(WriteGate.big("transport"));
        List<Boolean> room = new ArrayList<>();
        ZMTPMessage watched =
                ZMTPMessage.from(new Watched(() -> room.add(peer.queue().hasRoom())));
        OtherThread.call(() -> assertThat(peer.trySend(watched)).isTrue());
        room.clear(); // before it had a place

        loop.run();

        assertThat(peer.stats().queued()).isEqualTo(1);
        assertThat(room).isNotEmpty().doesNotContain(true);
    }

    /** As if the last message left the queue of the peer after a refused thread has looked for room, or while it does. */
    @Test
    void aThreadThatFindsAPeerFullIsToldOfRoomThatComesMeanwhile() {
        ZMTPSocket router = bound(ZMTPSocketConfig.builder(ROUTER));
        onlyPeer(router);
        AtomicInteger told = new AtomicInteger();
        router.onWritable(told::incrementAndGet);
        loop.run();
        int before = told.get();
        Writability writability = ClockedSockets.core(router).senders().writability();

        writability.missedPeer(() -> {
            writability.opened();
            return false;
        });

        assertThat(told).hasValue(before + 1);
    }

    /** As if the peer left between the two. */
    @Test
    void aThreadThatFindsANameWhosePeerThenLeavesIsTold() throws Throwable {
        ZMTPSocket router = bound(ZMTPSocketConfig.builder(ROUTER));
        ZMTPSocket dealer = loop.open(ZMTPSocketConfig.builder(DEALER));
        dealer.connect(ENDPOINT);
        loop.run();
        Peer found = (Peer) router.peers().iterator().next();
        dealer.closeAsync(Duration.ZERO);
        loop.run();
        AtomicInteger told = new AtomicInteger();
        router.onWritable(told::incrementAndGet);
        loop.run();
        int before = told.get();

        OtherThread.call(() -> {
            ZMTPMessage named = message("name", "content");
            ByName.Named to = new ByName.Named(found, found.occupant());
            assertThat(ClockedSockets.core(router).senders().directly().trySendNamed(to, named))
                    .isFalse();
            named.release();
        });
        loop.run();

        assertThat(told).hasValue(before + 1);
    }

    private static List<ZMTPSocketEvent.Dropped> drops(ZMTPSocket socket) {
        List<ZMTPSocketEvent.Dropped> drops = new ArrayList<>();
        socket.onEvent(Runnable::run, event -> {
            if (event instanceof ZMTPSocketEvent.Dropped dropped) {
                drops.add(dropped);
            }
        });
        return drops;
    }

    /** Another thread sends a thousand messages. */
    private static void thousandTimes(Consumer<ZMTPMessage> send) throws Throwable {
        OtherThread.call(() -> {
            for (int i = 0; i < 1_000; i++) {
                send.accept(message("burst"));
            }
        });
    }

    /** Its sender wants no result, so nothing else would say it. */
    @Test
    void thoseThatFindNoRoomOnTheirWayAreReported() throws Throwable {
        ZMTPSocket pub = bound(ZMTPSocketConfig.builder(PUB).sendQueueLimit(1, 1));
        subscribe();
        List<ZMTPSocketEvent.Dropped> drops = drops(pub);

        thousandTimes(pub::sendOrDrop);
        long dropped = pub.stats().dropped();
        loop.run();

        assertThat(dropped).isPositive();
        assertThat(drops).containsExactly(new ZMTPSocketEvent.Dropped(null, DropReason.FULL, dropped));
    }

    @Test
    void thoseForAPeerThatFindNoRoomOnTheirWayAreReportedAsItsOwn() throws Throwable {
        ZMTPSocket router = bound(ZMTPSocketConfig.builder(ROUTER).sendQueueLimit(1, 1));
        ZMTPPeer peer = onlyPeer(router);
        List<ZMTPSocketEvent.Dropped> drops = drops(router);

        thousandTimes(peer::sendOrDrop);
        long dropped = router.stats().dropped();
        loop.run();

        assertThat(dropped).isPositive();
        assertThat(drops).first().isEqualTo(new ZMTPSocketEvent.Dropped(peer, DropReason.FULL, dropped));
    }

    @Test
    void thoseThatHaveNoPeerToWaitForAreReported() throws Throwable {
        ZMTPSocket push = bound(ZMTPSocketConfig.builder(PUSH));
        List<ZMTPSocketEvent.Dropped> drops = drops(push);

        OtherThread.call(() -> push.sendOrDrop(message("nobody")));
        loop.run();

        assertThat(drops).containsExactly(new ZMTPSocketEvent.Dropped(null, DropReason.NO_PEER, 1));
    }

    @Test
    void thoseForANameThatNobodyHasAreReported() {
        ZMTPSocket router = bound(ZMTPSocketConfig.builder(ROUTER));
        List<ZMTPSocketEvent.Dropped> drops = drops(router);

        router.sendOrDrop(message("nobody", "hello"));

        assertThat(drops).containsExactly(new ZMTPSocketEvent.Dropped(null, DropReason.NO_PEER, 1));
    }

    /** The oldest ones, which other threads have sent, make room for others. */
    @Test
    void thoseThatNewerOnesReplaceOnTheirWayAreReportedAsSuch() throws Throwable {
        ZMTPSocket pub = bound(ZMTPSocketConfig.builder(PUB)
                .overflowPolicy(OverflowPolicy.DROP_OLD)
                .sendQueueLimit(1, 1));
        subscribe();
        List<ZMTPSocketEvent.Dropped> drops = drops(pub);

        thousandTimes(pub::sendOrDrop);
        long dropped = pub.stats().dropped();
        loop.run();

        assertThat(dropped).isPositive();
        assertThat(drops).first().isEqualTo(new ZMTPSocketEvent.Dropped(null, DropReason.REPLACED, dropped));
    }

    /** The sum of all seconds is what was dropped, and a listener that sends starts no second timer. */
    @Test
    void whatAListenerDropsWhileItHearsOfDropsIsReportedASecondLater() {
        ZMTPSocket router = bound(ZMTPSocketConfig.builder(ROUTER));
        List<ZMTPSocketEvent.Dropped> drops = drops(router);
        router.onEvent(Runnable::run, event -> {
            if (event instanceof ZMTPSocketEvent.Dropped) {
                router.sendOrDrop(message("nobody", "again"));
            }
        });

        router.sendOrDrop(message("nobody", "first"));
        loop.advance(Duration.ofSeconds(10));

        assertThat(drops).hasSizeBetween(10, 12);
        assertThat(drops.stream().mapToLong(ZMTPSocketEvent.Dropped::messages).sum())
                .isEqualTo(router.stats().dropped() - 1);
    }

    /** Their senders have no futures that would say so. */
    @Test
    void thoseThatWaitForAPeerThatIsGivenUpAreReported() {
        List<ZMTPSocketEvent> events = new ArrayList<>();
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH).linger(Duration.ZERO));
        push.onEvent(Runnable::run, events::add);
        ZMTPEndpoint nobody = push.connect("test://nobody");
        loop.run();
        for (int i = 0; i < 5; i++) {
            assertThat(push.trySend(message("waits"))).isTrue();
        }

        nobody.close();
        loop.run();

        assertThat(events).contains(new ZMTPSocketEvent.Dropped(null, DropReason.NO_PEER, 5));
    }
}
