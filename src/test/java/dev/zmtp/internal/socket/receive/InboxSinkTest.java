package dev.zmtp.internal.socket.receive;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.socket.ZMTPSocketException.Reason.ILLEGAL_STATE;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.Turns;
import dev.zmtp.testing.WriteGate;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One that gets all messages of a socket while it wants any, as a proxy does: how it begins, and what it leaves. */
@Tag("netty-4.2-only")
class InboxSinkTest {

    private static final String ENDPOINT = "inproc://sink";

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL).receiveQueueLimit(2, 100));
    private final Inbox inbox = ClockedSockets.core(pull).inbox();
    private final Taking sink = new Taking();

    InboxSinkTest() {
        pull.bind(ENDPOINT);
    }

    @AfterEach
    void close() {
        sink.taken.forEach(ZMTPMessage::release);
        loop.close();
    }

    /** Keeps what it gets. */
    private static final class Taking implements Sink {
        private final Deque<ZMTPMessage> taken = new ArrayDeque<>();
        private int wanted = Integer.MAX_VALUE;
        private int closes;

        List<String> texts() {
            return taken.stream()
                    .map(message -> message.frame(0).toString(StandardCharsets.UTF_8))
                    .toList();
        }

        @Override
        public boolean wants() {
            return taken.size() < wanted;
        }

        @Override
        public void take(Peer from, ZMTPMessage message) {
            taken.add(message);
        }

        @Override
        public void closed() {
            closes++;
        }
    }

    private void send(String... texts) {
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH));
        push.connect(ENDPOINT);
        loop.run();
        for (String text : texts) {
            push.sendOrDrop(message(text));
            loop.run();
        }
    }

    private String next() {
        CompletableFuture<ZMTPMessage> received = pull.receiveAsync();
        loop.run();
        return frames(TestSockets.get(received)).get(0);
    }

    private Peer peer() {
        return ClockedSockets.core(pull).peers().all().iterator().next();
    }

    @Test
    void nothingElseReceivesBetweenItsClaimAndItsBegin() {
        inbox.claim(true);

        assertThat(reason(pull.receiveAsync())).isEqualTo(ILLEGAL_STATE);
        assertThatThrownBy(() -> inbox.claim(true)).hasMessageContaining("a receiver is already registered");

        inbox.unclaim();
        send("0");
        assertThat(next()).isEqualTo("0");
    }

    @Test
    void itIsNotClaimedWhileAReceiverWaits() {
        CompletableFuture<ZMTPMessage> waits = pull.receiveAsync();

        assertThatThrownBy(() -> inbox.claim(true)).hasMessageContaining("a receiver is already registered");

        waits.cancel(false);
        inbox.claim(true);
    }

    @Test
    void itGetsWhatWaitsAndThenWhatArrivesAsLongAsItWantsAny() {
        send("0", "1");
        sink.wanted = 3;
        inbox.claim(true);

        inbox.sink(sink);
        send("2", "3");

        assertThat(sink.texts()).containsExactly("0", "1", "2");
        sink.wanted = 4;
        inbox.pump();
        assertThat(sink.texts()).containsExactly("0", "1", "2", "3");
    }

    @Test
    void whatItGivesBackIsReceivedInTheOldOrder() {
        inbox.claim(true);
        inbox.sink(sink);
        send("0", "1", "2");

        while (sink.taken.size() > 1) {
            assertThat(inbox.returned(peer(), 0, sink.taken.removeLast())).isTrue();
        }
        inbox.unsink(sink);

        assertThat(next()).isEqualTo("1");
        assertThat(next()).isEqualTo("2");
    }

    /** Two may wait. */
    @Test
    void aPeerWhoseMessagesItGivesBackIsNotReadFromIfTheyAreAsManyAsMayWait() {
        inbox.claim(true);
        inbox.sink(sink);
        send("0", "1");

        assertThat(inbox.returned(peer(), 0, sink.taken.removeLast())).isTrue();
        assertThat(isRead(peer())).isTrue();
        assertThat(inbox.returned(peer(), 0, sink.taken.removeLast())).isTrue();
        inbox.unsink(sink);

        assertThat(isRead(peer())).isFalse();

        assertThat(next()).isEqualTo("0");
        assertThat(isRead(peer())).isTrue();
    }

    private boolean isRead(Peer peer) {
        loop.run();
        return peer.link() != null && peer.link().channel().config().isAutoRead();
    }

    @Test
    void whatItGivesBackAfterTheCloseIsReleased() {
        inbox.claim(true);
        inbox.sink(sink);
        send("0");
        Peer peer = peer();
        ZMTPMessage taken = sink.taken.remove();

        pull.closeAsync(Duration.ZERO);
        loop.run();

        assertThat(inbox.returned(peer, 0, taken)).isFalse();
        assertThat(taken.refCnt()).isZero();
    }

    @Test
    void itHearsOnceThatTheSocketIsClosed() {
        inbox.claim(true);
        inbox.sink(sink);

        pull.closeAsync(Duration.ZERO);
        loop.run();

        assertThat(sink.closes).isEqualTo(1);
    }

    @Test
    void itHearsThatTheSocketWasClosedBeforeItBegan() {
        inbox.claim(true);
        pull.closeAsync(Duration.ZERO);
        loop.run();

        inbox.sink(sink);

        assertThat(sink.closes).isEqualTo(1);
    }

    @Test
    void onceItHasLeftItHearsNothingOfTheClose() {
        inbox.claim(true);
        inbox.sink(sink);
        inbox.unsink(sink);

        pull.closeAsync(Duration.ZERO);
        loop.run();

        assertThat(sink.closes).isZero();
    }

    @Test
    void onceItsRegistrationIsClosedItHearsNothingOfTheClose() {
        inbox.register(sink).close();

        pull.closeAsync(Duration.ZERO);
        loop.run();

        assertThat(sink.closes).isZero();
    }

    @Test
    void anotherThreadReceivesWhatItGivesBack() {
        inbox.claim(true);
        inbox.sink(sink);
        send("0");
        assertThat(inbox.returned(peer(), 0, sink.taken.remove())).isTrue();
        inbox.unsink(sink);

        CompletableFuture<ZMTPMessage> received = TestSockets.get(CompletableFuture.supplyAsync(pull::receiveAsync));

        assertThat(frames(TestSockets.get(received))).containsExactly("0");
    }

    /** The registration of the first is closed once more. */
    @Test
    void theEndOfAnEarlierOneLeavesItInItsPlace() {
        ZMTPRegistration earlier = inbox.register(new Taking());
        earlier.close();
        inbox.register(sink);

        earlier.close();
        send("0");

        assertThat(sink.texts()).containsExactly("0");
    }

    /** Messages of three peers, of each more than one task passes on. */
    @Test
    void aHandlerThatReplacesItselfLeavesTheRestToTheNext() throws InterruptedException {
        ZMTPSocket receiver = loop.open(ZMTPSocketConfig.builder(PULL));
        receiver.bind("inproc://replaced");
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH));
        push.connect("inproc://replaced");
        loop.run();
        for (String text : List.of("1", "2", "3")) {
            push.sendOrDrop(message(text));
        }
        loop.run();
        List<String> heard = new ArrayList<>();
        ZMTPRegistration[] first = new ZMTPRegistration[1];
        Thread other = new Thread(() -> first[0] = receiver.onMessage((from, message) -> {
            heard.add("first " + WriteGate.text(message));
            first[0].close();
            receiver.onMessage((peer, next) -> heard.add("next " + WriteGate.text(next)));
        }));
        other.start();
        other.join();

        loop.run();

        assertThat(heard).containsExactly("first 1", "next 2", "next 3");
    }

    private ZMTPSocket longInbox() {
        ZMTPSocket receiver = loop.open(ZMTPSocketConfig.builder(PULL).receiveQueueLimit(3_000, 1 << 20));
        receiver.bind("inproc://many");
        for (int i = 0; i < 3; i++) {
            ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH).sendQueueLimit(3_000, 1 << 20));
            push.connect("inproc://many");
            loop.run();
            for (int k = 0; k < 1_500; k++) {
                push.sendOrDrop(message("m"));
            }
            loop.run();
        }
        assertThat(receiver.stats().received()).isEqualTo(4_500);
        return receiver;
    }

    @Test
    void aHandlerThatComesLateGetsWhatWaitsInSeveralTasks() {
        ZMTPSocket receiver = longInbox();
        int[] handled = {0};
        Turns turns = Turns.of(loop.eventLoop(), () -> handled[0]);

        receiver.onMessage((from, message) -> {
            handled[0]++;
            message.release();
            ClockedSockets.core(receiver).inbox().pump(); // as one that has room again
        });
        loop.run();

        assertThat(handled[0]).isEqualTo(4_500);
        assertThat(turns.most()).isPositive().isLessThanOrEqualTo(LoopBudget.MESSAGES);
    }

    /** Each link of a chain of futures takes what waits. */
    @Test
    void receiversThatReceiveAgainGetWhatWaitsInSeveralTasks() {
        ZMTPSocket receiver = longInbox();
        int[] taken = {0};
        Turns turns = Turns.of(loop.eventLoop(), () -> taken[0]);

        for (int i = 0; i < 100; i++) {
            receiveAgain(receiver, taken);
        }
        loop.run();

        assertThat(taken[0]).isEqualTo(4_500);
        assertThat(turns.most()).isPositive().isLessThanOrEqualTo(LoopBudget.MESSAGES);
    }

    private static void receiveAgain(ZMTPSocket receiver, int[] taken) {
        receiver.receiveAsync().thenAccept(message -> {
            message.release();
            taken[0]++;
            receiveAgain(receiver, taken);
        });
    }

    /** One that is given up meanwhile takes none of them. */
    @Test
    void receiversWhoseMessagesWaitGetThemInOrder() {
        ZMTPSocket receiver = loop.open(ZMTPSocketConfig.builder(PULL));
        receiver.bind("inproc://many");
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH));
        push.connect("inproc://many");
        loop.run();
        for (int i = 0; i < 100; i++) {
            push.sendOrDrop(message(Integer.toString(i)));
        }
        loop.run();
        List<CompletableFuture<ZMTPMessage>> received =
                Stream.generate(receiver::receiveAsync).limit(101).toList();
        assertThat(received.get(0)).isCompleted();
        assertThat(received.get(99)).as("one of many").isNotDone();

        received.get(99).cancel(false);
        push.sendOrDrop(message("100"));
        loop.run();

        for (int i = 0; i < 99; i++) {
            assertThat(frames(received.get(i).getNow(null))).containsExactly(Integer.toString(i));
        }
        assertThat(frames(received.get(100).getNow(null))).containsExactly("99");
        assertThat(frames(receiver.receiveAsync().getNow(null))).containsExactly("100");
    }

    @Test
    void receiversThatWaitAtTheEndFailBeforeTheSocketIsClosed() {
        ZMTPSocket receiver = loop.open(ZMTPSocketConfig.builder(PULL));
        int[] failed = {0};
        for (int i = 0; i < 3_000; i++) {
            receiver.receiveAsync().whenComplete((message, failure) -> failed[0]++);
        }
        Turns turns = Turns.of(loop.eventLoop(), () -> failed[0]);
        int[] failedBefore = {0};

        receiver.closeAsync(Duration.ZERO).thenRun(() -> failedBefore[0] = failed[0]);
        loop.advance(Duration.ofMillis(100));

        assertThat(failedBefore[0]).isEqualTo(3_000);
        assertThat(turns.most()).isPositive().isLessThanOrEqualTo(LoopBudget.MESSAGES);
    }
}
