package dev.zmtp.internal.socket.receive;

import static dev.zmtp.ZMTPSocketType.CHANNEL;
import static dev.zmtp.ZMTPSocketType.GATHER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.ZMTPSocketType.XSUB;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPProxy;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import dev.zmtp.socket.ZMTPSocketEvent.Dropped;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What an XSUB sends to an XPUB, in virtual time. */
@Tag("netty-4.2-only")
class UpstreamTest {

    private static final int LIMIT = 10;

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();

    @AfterEach
    void close() {
        loop.close();
    }

    private ZMTPSocket bind(String endpoint) {
        ZMTPSocket xpub = loop.open(ZMTPSocketConfig.builder(XPUB).receiveQueueLimit(LIMIT, 1 << 20));
        xpub.bind(endpoint);
        loop.run();
        return xpub;
    }

    private ZMTPSocket connect(String endpoint) {
        ZMTPSocket xsub = loop.open(ZMTPSocketConfig.builder(XSUB));
        xsub.connect(endpoint);
        loop.run();
        return xsub;
    }

    private void send(ZMTPSocket xsub, int messages) {
        for (int i = 0; i < messages; i++) {
            xsub.sendOrDrop(message("up " + i));
            loop.run();
        }
    }

    /** The subscription comes after more messages than the publisher keeps. */
    private void assertSubscribesAfterMessages(ZMTPSocket xpub, ZMTPSocket xsub) {
        send(xsub, 5 * LIMIT);
        xsub.subscribe("topic");
        loop.run();
        xpub.sendOrDrop(message("topic 1"));
        loop.run();

        assertThat(TestSockets.frames(xsub.receiveAsync().join())).containsExactly("topic 1");
    }

    /** A proxy sends what a stranger sends to it, and the subscriptions of all others. */
    @ParameterizedTest
    @ValueSource(strings = {"test://upstream", "inproc://upstream"})
    void doesNotKeepSubscriptionsFromAnXpubThatReceivesNothing(String endpoint) {
        ZMTPSocket xpub = bind(endpoint);
        List<String> dropped = new ArrayList<>();
        xpub.onEvent(Runnable::run, event -> {
            if (event instanceof Dropped some && some.reason() == DropReason.UNSOLICITED) {
                dropped.add("");
            }
        });
        ZMTPSocket xsub = connect(endpoint);

        assertSubscribesAfterMessages(xpub, xsub);
        assertThat(dropped).isNotEmpty();
        assertThat(xpub.stats().discarded()).isPositive();
    }

    /** The other socket of the proxy takes nothing that an XSUB sends. */
    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            names = {"SUB", "PULL"})
    void doesNotKeepSubscriptionsFromAProxyThatForwardsInOneDirection(ZMTPSocketType front) {
        ZMTPSocket xpub = bind("test://upstream");
        ZMTPProxy.start(loop.open(ZMTPSocketConfig.builder(front)), xpub);
        ZMTPSocket xsub = connect("test://upstream");

        assertSubscribesAfterMessages(xpub, xsub);
        assertThat(xpub.stats().discarded()).isPositive();
    }

    /** They answer to a proxy of a PULL, which takes nothing. */
    @ParameterizedTest
    @CsvSource({"DEALER, DEALER", "PAIR, PAIR", "CHANNEL, CHANNEL", "ROUTER, DEALER"})
    void ofAnyTypeDoesNotStopAProxyThatForwardsInOneDirection(ZMTPSocketType back, ZMTPSocketType peer) {
        ZMTPSocket backend = loop.open(ZMTPSocketConfig.builder(back).receiveQueueLimit(LIMIT, 1 << 20));
        backend.bind("test://back");
        loop.run();
        ZMTPProxy.start(loop.open(ZMTPSocketConfig.builder(back == CHANNEL ? GATHER : PULL)), backend);
        ZMTPSocket answering = loop.open(ZMTPSocketConfig.builder(peer));
        answering.connect("test://back");
        loop.run();

        for (int i = 0; i < 5 * LIMIT; i++) {
            answering.sendOrDrop(message("up " + i));
            loop.run();
        }

        assertThat(backend.stats().received()).isEqualTo(5 * LIMIT);
        assertThat(backend.stats().discarded()).isGreaterThanOrEqualTo(4 * LIMIT);
    }

    @Test
    void isQueuedForAPublisherThatIsAway() {
        ZMTPSocket xsub = loop.open(ZMTPSocketConfig.builder(XSUB));
        xsub.connect("test://upstream");
        loop.run();
        send(xsub, 2);
        ZMTPSocket first = bind("test://upstream");
        loop.advance(Duration.ofSeconds(1));
        List<String> received = received(first);
        first.closeAsync(Duration.ZERO);
        loop.run();
        send(xsub, 1);

        ZMTPSocket second = bind("test://upstream");
        loop.advance(Duration.ofSeconds(1));

        assertThat(received).containsExactly("up 0", "up 1");
        assertThat(received(second)).containsExactly("up 0");
    }

    private static List<String> received(ZMTPSocket xpub) {
        List<String> received = new ArrayList<>();
        for (ZMTPMessage next = xpub.tryReceive(); next != null; next = xpub.tryReceive()) {
            received.addAll(TestSockets.frames(next));
        }
        return received;
    }

    @Test
    void isAllReceivedIfTheXpubReceives() {
        ZMTPSocket xpub = bind("test://upstream");
        List<String> received = new ArrayList<>();
        ZMTPMessage none = xpub.tryReceive();
        assertThat(none).isNull();
        ZMTPSocket xsub = connect("test://upstream");

        send(xsub, 5 * LIMIT);
        for (ZMTPMessage next = xpub.tryReceive(); next != null; next = xpub.tryReceive()) {
            received.addAll(TestSockets.frames(next));
            loop.run();
        }

        assertThat(received).hasSize(5 * LIMIT).first().isEqualTo("up 0");
    }
}
