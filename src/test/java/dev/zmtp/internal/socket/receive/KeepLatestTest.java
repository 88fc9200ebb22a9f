package dev.zmtp.internal.socket.receive;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.socket.ZMTPSocketConfig.ReceiveOverflowPolicy.KEEP_LATEST;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPProxy;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPRequest;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.TestSockets;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A socket that keeps only the newest message of each peer until it is taken. */
@Tag("netty-4.2-only")
class KeepLatestTest {

    private static final String ENDPOINT = "inproc://latest";

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL).receiveOverflowPolicy(KEEP_LATEST));

    KeepLatestTest() {
        pull.bind(ENDPOINT);
    }

    @AfterEach
    void close() {
        loop.close();
    }

    private ZMTPSocket push() {
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH));
        push.connect(ENDPOINT);
        loop.run();
        return push;
    }

    private void send(ZMTPSocket push, String... texts) {
        for (String text : texts) {
            push.sendOrDrop(message(text));
            loop.run();
        }
    }

    /** The messages that are there, in the order in which they are taken. */
    private static List<String> taken(ZMTPSocket socket) {
        List<String> taken = new ArrayList<>();
        for (ZMTPMessage next = socket.tryReceive(); next != null; next = socket.tryReceive()) {
            taken.addAll(frames(next));
        }
        return taken;
    }

    @Test
    void aReceiverThatWasBusyGetsTheNewestMessageWithAllItsFrames() {
        ZMTPSocket push = push();
        send(push, "0", "1");
        push.sendOrDrop(message("a", "", "b"));
        loop.run();

        assertThat(taken(pull)).containsExactly("a", "", "b");
    }

    @Test
    void aMessageThatWasTakenIsNotReplaced() {
        ZMTPSocket push = push();
        send(push, "0", "1");
        assertThat(taken(pull)).containsExactly("1");

        send(push, "2");

        assertThat(taken(pull)).containsExactly("2");
        assertThat(pull.stats().discarded()).isEqualTo(1);
    }

    @Test
    void theNewestMessageOfEachPeerIsKept() {
        ZMTPSocket first = push();
        ZMTPSocket second = push();
        send(first, "a0");
        send(second, "b0", "b1");
        send(first, "a1");

        assertThat(taken(pull)).containsExactly("a1", "b1");
    }

    @Test
    void aReplacedMessageIsReleased() {
        ZMTPSocket push = push();
        ByteBuf older = Unpooled.wrappedBuffer(new byte[100]);
        push.sendOrDrop(ZMTPMessage.from(older));
        loop.run();
        assertThat(older.refCnt()).isPositive();

        send(push, "newer");

        assertThat(older.refCnt()).isZero();
    }

    @Test
    void replacedMessagesAreCountedForTheirPeerAndForTheSocket() {
        send(push(), "0", "1", "2");

        assertThat(pull.stats().received()).isEqualTo(3);
        assertThat(pull.stats().discarded()).isEqualTo(2);
        assertThat(TestSockets.peer(pull).stats().discarded()).isEqualTo(2);
        assertThat(pull.stats().dropped()).isZero();
    }

    @Test
    void replacedMessagesAreReportedLikeOtherDrops() {
        List<ZMTPSocketEvent> events = new ArrayList<>();
        pull.onEvent(Runnable::run, events::add);
        ZMTPSocket push = push();
        events.clear();

        send(push, "0", "1", "2", "3");
        loop.advance(Duration.ofSeconds(1));

        Peer peer = peer(pull);
        assertThat(events)
                .containsExactly(
                        new ZMTPSocketEvent.Dropped(peer, ZMTPSocketEvent.DropReason.OUTDATED, 1),
                        new ZMTPSocketEvent.Dropped(peer, ZMTPSocketEvent.DropReason.OUTDATED, 2));
    }

    /** This is what the application has asked for. */
    @Test
    void noLineIsLoggedAboutReplacedMessages() {
        try (CapturedLog log = new CapturedLog("dev.zmtp.socket.Drops")) {
            send(push(), "0", "1", "2");
            loop.advance(Duration.ofSeconds(2));

            assertThat(log.lines).isEmpty();
        }
    }

    /** A listener may use the socket, and may wait for another thread that does. */
    @Test
    void aListenerIsCalledWithoutTheLock() {
        ZMTPSocket push = push();
        List<String> takenElsewhere = new ArrayList<>();
        pull.onEvent(Runnable::run, event -> {
            if (event instanceof ZMTPSocketEvent.Dropped) {
                Thread other = new Thread(() -> takenElsewhere.addAll(taken(pull)));
                other.start();
                joined(other);
            }
        });

        send(push, "0", "1");

        assertThat(takenElsewhere).containsExactly("1");
    }

    /** A frame of the application, which is notified when it is freed. */
    private static final class OwnFrame extends UnpooledHeapByteBuf {
        private final Runnable whenFreed;

        OwnFrame(Runnable whenFreed) {
            super(UnpooledByteBufAllocator.DEFAULT, 1, 1);
            this.whenFreed = whenFreed;
            writeByte(0);
        }

        @Override
        protected void deallocate() {
            super.deallocate();
            whenFreed.run();
        }
    }

    /** The memory of a frame can belong to the application, which can wait for a thread that receives. */
    @Test
    void aReplacedMessageIsReleasedWithoutTheLock() {
        ZMTPSocket push = push();
        List<String> takenElsewhere = new ArrayList<>();
        push.sendOrDrop(ZMTPMessage.from(new OwnFrame(() -> {
            Thread other = new Thread(() -> takenElsewhere.addAll(taken(pull)));
            other.start();
            joined(other);
        })));
        loop.run();

        send(push, "newer");

        assertThat(takenElsewhere).containsExactly("newer");
    }

    @Test
    void aCloseReleasesMessagesWithoutTheLock() {
        ZMTPSocket push = push();
        List<Throwable> refusedElsewhere = new ArrayList<>();
        push.sendOrDrop(ZMTPMessage.from(new OwnFrame(() -> {
            Thread other = new Thread(() -> refusedElsewhere.add(catchThrowable(pull::tryReceive)));
            other.start();
            joined(other);
        })));
        loop.run();

        pull.closeAsync(Duration.ZERO);
        loop.run();

        assertThat(refusedElsewhere).hasSize(1).first().isInstanceOf(ZMTPSocketException.class);
    }

    /** The budget has no room for two messages and their objects. Each message arrives in a single read. */
    @Test
    void theBudgetNeverCountsAMessageAndTheMessageThatItReplaces() {
        int length = 50_000;
        ZMTPMemoryBudget budget = ZMTPMemoryBudget.of(2L * length);
        ZMTPSocket counted = loop.open(ZMTPSocketConfig.builder(PULL)
                .codec(codec -> codec.memoryBudget(budget))
                .receiveOverflowPolicy(KEEP_LATEST));
        counted.bind("test://budget");
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH));
        push.connect("test://budget");
        loop.run();

        for (int i = 0; i < 10; i++) {
            send(push, "" + i + "k".repeat(length - 1));
        }

        assertThat(counted.stats().discarded()).isEqualTo(9);
        assertThat(budget.used()).isLessThan(length * 3 / 2);
        assertThat(budget.endedConnections()).isZero();
        assertThat(taken(counted).get(0)).startsWith("9");
    }

    private static void joined(Thread thread) {
        try {
            thread.join(TestSockets.PATIENCE.toMillis());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static Peer peer(ZMTPSocket socket) {
        return ClockedSockets.core(socket).peers().all().iterator().next();
    }

    @Test
    void aPeerIsReadWhileNothingIsTaken() {
        ZMTPSocket little =
                loop.open(ZMTPSocketConfig.builder(PULL).receiveQueueLimit(1, 1).receiveOverflowPolicy(KEEP_LATEST));
        little.bind("inproc://little");
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH));
        push.connect("inproc://little");
        loop.run();
        for (int i = 0; i < 5_000; i++) {
            send(push, "" + i);
        }

        assertThat(little.stats().received()).isEqualTo(5_000);
        assertThat(taken(little)).containsExactly("4999");
    }

    @Test
    void aHandlerGetsEachMessage() {
        List<String> handled = new ArrayList<>();
        pull.onMessage((peer, message) -> handled.addAll(frames(message)));

        send(push(), "0", "1", "2");

        assertThat(handled).containsExactly("0", "1", "2");
        assertThat(pull.stats().discarded()).isZero();
    }

    @Test
    void aHandlerThatComesLaterBeginsWithTheNewestMessage() {
        ZMTPSocket push = push();
        send(push, "0", "1");
        List<String> handled = new ArrayList<>();
        pull.onMessage((peer, message) -> handled.addAll(frames(message)));
        send(push, "2");

        assertThat(handled).containsExactly("1", "2");
    }

    @Test
    void aFutureThatWaitsGetsTheNextMessage() {
        ZMTPSocket push = push();
        CompletableFuture<ZMTPMessage> received = pull.receiveAsync();

        send(push, "0", "1", "2");

        assertThat(frames(get(received))).containsExactly("0");
        assertThat(taken(pull)).containsExactly("2");
    }

    @Test
    void aMessageThatIsPutBackIsReplacedByTheNewerOne() {
        ZMTPSocket push = push();
        send(push, "newer");
        ZMTPMessage older = message("older");

        assertThat(ClockedSockets.core(pull).inbox().returned(peer(pull), 0, older))
                .isTrue();
        loop.run();

        assertThat(older.refCnt()).isZero();
        assertThat(taken(pull)).containsExactly("newer");
        assertThat(pull.stats().discarded()).isEqualTo(1);
    }

    @Test
    void aMessageThatIsPutBackIsKeptIfItIsTheNewest() {
        push();

        ClockedSockets.core(pull).inbox().returned(peer(pull), 0, message("back"));

        assertThat(taken(pull)).containsExactly("back");
    }

    /** The peer has no turn meanwhile. */
    @Test
    void theNewestRequestOfAPeerWaitsForTheHandler() {
        ZMTPSocket router = loop.open(
                ZMTPSocketConfig.builder(ROUTER).maxOutstandingRequests(1).receiveOverflowPolicy(KEEP_LATEST));
        router.bind("inproc://router");
        List<ZMTPRequest> served = new ArrayList<>();
        router.serve(served::add);
        ZMTPSocket dealer = loop.open(ZMTPSocketConfig.builder(DEALER));
        dealer.connect("inproc://router");
        loop.run();
        for (String text : List.of("0", "1", "2")) {
            dealer.sendOrDrop(message("", text));
            loop.run();
        }
        assertThat(served).hasSize(1);

        served.get(0).reply(message("answer"));
        loop.run();

        assertThat(served).hasSize(2);
        assertThat(served.get(1).message().frameUTF8(0)).isEqualTo("2");
        served.get(1).reply(message("answer"));
        loop.run();
        taken(dealer);
    }

    private ZMTPSocket backend() {
        ZMTPSocket backend = loop.open(ZMTPSocketConfig.builder(PUSH));
        backend.bind("inproc://backend");
        return backend;
    }

    @Test
    void aProxyThatWasPausedContinuesWithTheNewestMessage() {
        ZMTPSocket push = push();
        ZMTPProxy proxy = ZMTPProxy.start(pull, backend());
        ZMTPSocket worker = loop.open(ZMTPSocketConfig.builder(PULL));
        worker.connect("inproc://backend");
        loop.run();
        proxy.pause();
        send(push, "0", "1", "2");
        assertThat(taken(worker)).isEmpty();

        proxy.resume();
        loop.run();

        assertThat(taken(worker)).containsExactly("2");
        assertThat(pull.stats().discarded()).isEqualTo(2);
        proxy.close();
    }

    /** The other side has no room for the first message. */
    @Test
    void aProxyThatEndsReturnsNoMessageThatIsOlderThanTheNewest() {
        ZMTPSocket push = push();
        ZMTPProxy proxy = ZMTPProxy.start(pull, backend());
        loop.run();
        send(push, "0", "1", "2");

        proxy.close();
        loop.run();

        assertThat(taken(pull)).containsExactly("2");
        assertThat(pull.stats().discarded()).isEqualTo(2);
    }

    @Test
    void theNewestMessageOfAPeerThatHasLeftCanBeTaken() {
        ZMTPSocket push = push();
        send(push, "0", "1");
        push.closeAsync(Duration.ZERO);
        loop.run();

        assertThat(taken(pull)).containsExactly("1");
    }

    @Test
    void aCloseReleasesTheMessageThatIsKept() {
        ZMTPSocket push = push();
        send(push, "0");
        ByteBuf kept = Unpooled.wrappedBuffer(new byte[100]);
        push.sendOrDrop(ZMTPMessage.from(kept));
        loop.run();

        pull.closeAsync(Duration.ZERO);
        loop.run();

        assertThat(kept.refCnt()).isZero();
    }

    @Test
    void withoutThePolicyAllMessagesWait() {
        ZMTPSocket all = loop.open(ZMTPSocketConfig.builder(PULL));
        all.bind("inproc://all");
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH));
        push.connect("inproc://all");
        loop.run();
        send(push, "0", "1", "2");

        assertThat(taken(all)).containsExactly("0", "1", "2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"inproc://busy", "tcp://127.0.0.1:*"})
    void aThreadThatWasBusyGetsTheNewestMessageNext(String endpoint) throws InterruptedException {
        loop.close(); // so that this thread may wait
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket pub = sockets.open(PUB);
            ZMTPSocket sub = sockets.open(sockets.builder(SUB).receiveOverflowPolicy(KEEP_LATEST));
            sub.subscribe("");
            connect(sub, bind(pub, endpoint));
            get(pub.whenPeers(1));
            for (int i = 0; i < 1_000; i++) {
                pub.send(message("" + i));
            }
            await("all but the last are replaced", () -> sub.stats().discarded() == 999);

            assertThat(frames(sub.receive())).containsExactly("999");
            assertThat(sub.receive(Duration.ofMillis(1))).isNull();
        }
    }

    @Test
    void aBlockedThreadIsWokenWhileMessagesAreReplaced() throws InterruptedException {
        loop.close(); // so that this thread may wait
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket push = sockets.open(PUSH);
            ZMTPSocket blocking = sockets.open(sockets.builder(PULL).receiveOverflowPolicy(KEEP_LATEST));
            connect(push, bind(blocking, "inproc://blocked"));
            int last = 20_000;
            Thread sender = new Thread(() -> {
                for (int i = 0; i <= last; i++) {
                    sent(push, i);
                }
            });
            sender.start();
            int latest = -1;
            int taken = 0;
            while (latest < last) {
                ZMTPMessage next = blocking.receive(TestSockets.PATIENCE);
                assertThat(next).isNotNull();
                int number = Integer.parseInt(frames(next).get(0));
                assertThat(number).isGreaterThan(latest);
                latest = number;
                taken++;
            }
            sender.join();

            int others = last + 1 - taken;
            await("the count", () -> blocking.stats().discarded() == others);
        }
    }

    private static void sent(ZMTPSocket push, int number) {
        try {
            push.send(message("" + number));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Closing the handler's registration does not lose the message that waits. */
    @Test
    void whatArrivesAfterAHandlerIsRemovedIsReplaced() {
        ZMTPSocket push = push();
        ZMTPRegistration handler = pull.onMessage((peer, message) -> message.release());
        send(push, "0");
        handler.close();
        send(push, "1", "2");

        assertThat(taken(pull)).containsExactly("2");
    }
}
