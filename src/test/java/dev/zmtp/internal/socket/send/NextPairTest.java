package dev.zmtp.internal.socket.send;

import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A PAIR or CHANNEL comes to a socket whose peer may be about to leave; in virtual time. */
@Tag("netty-4.2-only")
class NextPairTest {

    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final List<ZMTPSocketEvent> failures = new ArrayList<>();

    @AfterEach
    void close() {
        loop.close();
    }

    private ZMTPSocket bind(ZMTPSocketType type, String endpoint) {
        ZMTPSocket bound = loop.open(ZMTPSocketConfig.builder(type).receiveQueueLimit(2, 1 << 20));
        bound.onEvent(Runnable::run, event -> {
            if (event instanceof ZMTPSocketEvent.HandshakeFailed) {
                failures.add(event);
            }
        });
        bound.bind(endpoint);
        loop.run();
        return bound;
    }

    private ZMTPSocket connect(ZMTPSocketType type, String endpoint) {
        ZMTPSocket socket =
                loop.open(ZMTPSocketConfig.builder(type).reconnectDelay(Duration.ofHours(1), Duration.ofHours(1)));
        socket.connect(endpoint);
        loop.run();
        return socket;
    }

    private void send(ZMTPSocket socket, String... texts) {
        for (String text : texts) {
            socket.sendAsync(message(text));
        }
        loop.run();
    }

    @ParameterizedTest
    @CsvSource({
        "PAIR, test://next",
        "PAIR, inproc://next",
        "CHANNEL, test://next",
        "CHANNEL, inproc://next",
    })
    void losesNothingAlthoughTheEndOfTheOneBeforeItCannotBeSeen(ZMTPSocketType type, String endpoint) {
        ZMTPSocket bound = bind(type, endpoint);
        ZMTPSocket first = connect(type, endpoint);
        send(first, "1", "2", "3", "4");
        first.closeAsync(Duration.ofSeconds(1));
        loop.run();
        ZMTPSocket second = connect(type, endpoint);
        send(second, "5", "6");
        loop.advance(PATIENCE.multipliedBy(5));

        List<String> received = new ArrayList<>();
        bound.onMessage((from, message) -> received.addAll(TestSockets.frames(message)));
        loop.advance(PATIENCE);

        assertThat(received).containsExactly("1", "2", "3", "4", "5", "6");
        assertThat(failures).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "PAIR, test://next",
        "PAIR, inproc://next",
        "CHANNEL, test://next",
        "CHANNEL, inproc://next",
    })
    void isRefusedIfTheOneBeforeItStays(ZMTPSocketType type, String endpoint) {
        bind(type, endpoint);
        connect(type, endpoint);
        ZMTPSocket second = connect(type, endpoint);

        loop.advance(PATIENCE.minusMillis(1));
        assertThat(failures).isEmpty();
        loop.advance(Duration.ofMillis(1));

        assertThat(failures)
                .singleElement(type(ZMTPSocketEvent.HandshakeFailed.class))
                .satisfies(failed ->
                        assertThat(failed.cause()).hasMessage("ILLEGAL_STATE: this socket has its one peer already"));
        assertThat(second.peers()).noneMatch(TestSockets::isUp);
    }
}
