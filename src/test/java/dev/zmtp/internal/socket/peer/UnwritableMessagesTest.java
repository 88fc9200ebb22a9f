package dev.zmtp.internal.socket.peer;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.hold;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static dev.zmtp.testing.TestSockets.settle;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import dev.zmtp.socket.ZMTPSocketEvent.Dropped;
import dev.zmtp.socket.ZMTPSocketEvent.PeerDown;
import dev.zmtp.testing.TestSockets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages without a future, which are released before they are written, or a frame of them. */
class UnwritableMessagesTest {

    @ParameterizedTest
    @CsvSource({
        "tcp://127.0.0.1:*, false",
        "inproc://released, false",
        "tcp://127.0.0.1:*, true",
        "inproc://released, true"
    })
    void oneIsDroppedAndTheConnectionGoesOn(String endpoint, boolean whole, TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, endpoint));

        assertThatOnlyTheReleasedIsDropped(push, whole, 1, List.of(pull));
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp://127.0.0.1:*", "inproc://published"})
    void oneThatIsPublishedEndsNoConnectionOfASubscriber(String endpoint, TestSockets sockets) {
        ZMTPSocket pub = sockets.open(PUB);
        AtomicInteger heard = new AtomicInteger();
        pub.onEverySubscription((peer, subscription) -> heard.incrementAndGet());
        String bound = bind(pub, endpoint);
        List<ZMTPSocket> subscribers = List.of(sockets.open(SUB), sockets.open(SUB));
        for (ZMTPSocket subscriber : subscribers) {
            subscriber.subscribe("");
            connect(subscriber, bound);
        }
        await("both have subscribed", () -> heard.get() == 2);

        assertThatOnlyTheReleasedIsDropped(pub, false, 2, subscribers);
    }

    private static void assertThatOnlyTheReleasedIsDropped(
            ZMTPSocket from, boolean whole, int dropped, List<ZMTPSocket> to) {
        TestSockets.Events events = TestSockets.events(from);
        ZMTPMessage released = message("first frame", "released");
        CountDownLatch held = hold(from);
        assertThat(from.trySend(message("before"))).isTrue();
        assertThat(from.trySend(released)).isTrue();
        assertThat(from.trySend(message("after"))).isTrue();
        if (whole) {
            released.release();
        } else {
            released.frame(1).release();
        }
        held.countDown();

        for (ZMTPSocket each : to) {
            assertThat(receive(each)).containsExactly("before");
            assertThat(receive(each)).containsExactly("after");
        }
        settle(from);
        assertThat(events.next(Dropped.class).reason()).isEqualTo(DropReason.RELEASED);
        assertThat(events.drain()).noneMatch(PeerDown.class::isInstance);
        await("the account adds up", () -> from.stats().written() == 2 * to.size());
        assertThat(from.stats().dropped()).isEqualTo(dropped);
        assertThat(TestSockets.get(from.closeAsync(PATIENCE)).outcomeUnknown()).isZero();
    }
}
