package dev.zmtp.internal.socket.send;

import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** To the one peer, and from it. */
class ExclusiveTest {

    private static final String ENDPOINT = "inproc://exclusive";

    @ParameterizedTest
    @EnumSource(names = {"PAIR", "CHANNEL"})
    void bothSendAndReceiveInAnyOrder(ZMTPSocketType type, TestSockets sockets) {
        ZMTPSocket one = sockets.open(type);
        ZMTPSocket other = sockets.open(type);
        connect(other, bind(one, ENDPOINT));
        for (int i = 0; i < 3; i++) {
            get(other.sendAsync(message("a" + i)));
            get(one.sendAsync(message("b" + i)));
        }

        for (int i = 0; i < 3; i++) {
            assertThat(receive(one)).containsExactly("a" + i);
            assertThat(receive(other)).containsExactly("b" + i);
        }
    }

    /** T9: refused with events on both sides, and taken when the place is free. */
    @Tag("T9")
    @ParameterizedTest
    @EnumSource(names = {"PAIR", "CHANNEL"})
    void aSecondPeerIsRefusedAndTakesThePlaceWhenTheFirstHasLeft(ZMTPSocketType type, TestSockets sockets) {
        ZMTPSocket one = sockets.open(type);
        String endpoint = bind(one, ENDPOINT);
        ZMTPSocket first = sockets.open(type);
        connect(first, endpoint);
        await("the first", () -> one.peers().stream().anyMatch(TestSockets::isUp));
        TestSockets.Events events = TestSockets.events(one);
        ZMTPSocket second =
                sockets.open(sockets.builder(type).reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(10)));
        TestSockets.Events its = TestSockets.events(second);
        second.connect(endpoint);

        assertThat(events.next(ZMTPSocketEvent.HandshakeFailed.class).cause()).hasMessageContaining("one peer");
        its.next(ZMTPSocketEvent.Retrying.class);
        get(one.sendAsync(message("to the first")));
        assertThat(receive(first)).containsExactly("to the first");
        get(first.closeAsync(Duration.ZERO));
        events.next(ZMTPSocketEvent.PeerUp.class);

        get(second.sendAsync(message("from the second")));
        assertThat(receive(one)).containsExactly("from the second");
        get(one.sendAsync(message("to the second")));
        assertThat(receive(second)).containsExactly("to the second");
    }

    @ParameterizedTest
    @EnumSource(names = {"PAIR", "CHANNEL"})
    void aSendWaitsForThePeer(ZMTPSocketType type, TestSockets sockets) {
        ZMTPSocket one = sockets.open(type);
        ZMTPMessage refused = message("refused");
        assertThat(one.trySend(refused)).isFalse();
        assertThat(refused.release()).isTrue();
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            sent.add(one.sendAsync(message("m" + i)));
        }
        ZMTPSocket other = sockets.open(type);

        connect(other, bind(one, ENDPOINT));

        sent.forEach(TestSockets::get);
        for (int i = 0; i < 3; i++) {
            assertThat(receive(other)).containsExactly("m" + i);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"PAIR", "CHANNEL"})
    void manyThreadsMaySend(ZMTPSocketType type, TestSockets sockets) {
        ZMTPSocket one = sockets.open(sockets.builder(type).maxWaitingSends(10_000));
        ZMTPSocket other = sockets.open(type);
        connect(other, bind(one, ENDPOINT));
        List<CompletableFuture<Void>> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            threads.add(CompletableFuture.runAsync(
                    () -> {
                        for (int i = 0; i < 500; i++) {
                            one.sendAsync(message("x"));
                        }
                    },
                    task -> new Thread(task).start()));
        }

        for (int i = 0; i < 2_000; i++) {
            assertThat(receive(other)).containsExactly("x");
        }
        threads.forEach(TestSockets::get);
    }
}
