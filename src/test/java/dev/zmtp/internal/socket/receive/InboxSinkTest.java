package dev.zmtp.internal.socket.receive;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.socket.ZMTPSocketException.Reason.STATE;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One that gets all messages of a socket while it wants any, as a proxy does: how it begins, and what it leaves. */
@Tag("netty-4.2-only")
class InboxSinkTest {

    private static final String ENDPOINT = "inproc://sink";

    private final VirtualTime time = new VirtualTime();
    private final ZMTPSocket pull = time.open(ZMTPSocketConfig.builder(PULL).receiveLimit(2, 100));
    private final Inbox inbox = ClockedSockets.core(pull).inbox();
    private final Taking sink = new Taking();

    InboxSinkTest() {
        pull.bind(ENDPOINT);
    }

    @AfterEach
    void close() {
        sink.taken.forEach(ZMTPMessage::release);
        time.close();
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
        ZMTPSocket push = time.open(ZMTPSocketConfig.builder(PUSH));
        push.connect(ENDPOINT);
        time.run();
        for (String text : texts) {
            push.sendOrDrop(message(text));
            time.run();
        }
    }

    private String next() {
        CompletableFuture<ZMTPMessage> received = pull.receiveAsync();
        time.run();
        return frames(TestSockets.get(received)).get(0);
    }

    private Peer peer() {
        return ClockedSockets.core(pull).peers().all().iterator().next();
    }

    @Test
    void nothingElseReceivesBetweenItsClaimAndItsBegin() {
        inbox.claim();

        assertThat(reason(pull.receiveAsync())).isEqualTo(STATE);
        assertThatThrownBy(inbox::claim).hasMessageContaining("expected: one receiver");

        inbox.unclaim();
        send("0");
        assertThat(next()).isEqualTo("0");
    }

    @Test
    void itIsNotClaimedWhileAReceiverWaits() {
        CompletableFuture<ZMTPMessage> waits = pull.receiveAsync();

        assertThatThrownBy(inbox::claim).hasMessageContaining("expected: one receiver");

        waits.cancel(false);
        inbox.claim();
    }

    @Test
    void itGetsWhatWaitsAndThenWhatArrivesAsLongAsItWantsAny() {
        send("0", "1");
        sink.wanted = 3;
        inbox.claim();

        inbox.sink(sink);
        send("2", "3");

        assertThat(sink.texts()).containsExactly("0", "1", "2");
        sink.wanted = 4;
        inbox.pump();
        assertThat(sink.texts()).containsExactly("0", "1", "2", "3");
    }

    @Test
    void whatItGivesBackIsReceivedInTheOldOrder() {
        inbox.claim();
        inbox.sink(sink);
        send("0", "1", "2");

        while (sink.taken.size() > 1) {
            assertThat(inbox.returned(peer(), sink.taken.removeLast())).isTrue();
        }
        inbox.unsink(sink);

        assertThat(next()).isEqualTo("1");
        assertThat(next()).isEqualTo("2");
    }

    /** Two may wait. */
    @Test
    void aPeerWhoseMessagesItGivesBackIsNotReadFromIfTheyAreAsManyAsMayWait() {
        inbox.claim();
        inbox.sink(sink);
        send("0", "1");

        inbox.returned(peer(), sink.taken.removeLast());
        assertThat(isRead(peer())).isTrue();
        inbox.returned(peer(), sink.taken.removeLast());
        inbox.unsink(sink);

        assertThat(isRead(peer())).isFalse();

        assertThat(next()).isEqualTo("0");
        assertThat(isRead(peer())).isTrue();
    }

    private boolean isRead(Peer peer) {
        time.run();
        return peer.link() != null && peer.link().channel().config().isAutoRead();
    }

    @Test
    void whatItGivesBackAfterTheCloseIsReleased() {
        inbox.claim();
        inbox.sink(sink);
        send("0");
        Peer peer = peer();
        ZMTPMessage taken = sink.taken.remove();

        pull.closeAsync(Duration.ZERO);
        time.run();

        assertThat(inbox.returned(peer, taken)).isFalse();
        assertThat(taken.refCnt()).isZero();
    }

    @Test
    void itHearsOnceThatTheSocketIsClosed() {
        inbox.claim();
        inbox.sink(sink);

        pull.closeAsync(Duration.ZERO);
        time.run();

        assertThat(sink.closes).isEqualTo(1);
    }

    @Test
    void itHearsThatTheSocketWasClosedBeforeItBegan() {
        inbox.claim();
        pull.closeAsync(Duration.ZERO);
        time.run();

        inbox.sink(sink);

        assertThat(sink.closes).isEqualTo(1);
    }

    @Test
    void onceItHasLeftItHearsNothingOfTheClose() {
        inbox.claim();
        inbox.sink(sink);
        inbox.unsink(sink);

        pull.closeAsync(Duration.ZERO);
        time.run();

        assertThat(sink.closes).isZero();
    }

    @Test
    void onceItsRegistrationIsClosedItHearsNothingOfTheClose() {
        inbox.register(sink).close();

        pull.closeAsync(Duration.ZERO);
        time.run();

        assertThat(sink.closes).isZero();
    }

    @Test
    void anotherThreadReceivesWhatItGivesBack() {
        inbox.claim();
        inbox.sink(sink);
        send("0");
        inbox.returned(peer(), sink.taken.remove());
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
}
