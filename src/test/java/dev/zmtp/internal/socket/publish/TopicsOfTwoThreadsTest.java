package dev.zmtp.internal.socket.publish;

import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.OtherThread;
import dev.zmtp.testing.TestSockets;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Subscriptions of another thread, which the event loop gives up before it has seen them, in virtual time. */
@Tag("netty-4.2-only")
class TopicsOfTwoThreadsTest {

    private static final String ENDPOINT = "test://topics";

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final List<String> heard = new ArrayList<>();
    private final List<String> received = new ArrayList<>();
    private final List<ZMTPRegistration> ofThread = new ArrayList<>();
    private ZMTPSocket pub;
    private ZMTPSocket sub;

    @BeforeEach
    void connect() {
        pub = loop.open(ZMTPSocketConfig.builder(XPUB));
        pub.onEverySubscription((peer, subscription) -> heard.add(
                (subscription.isSubscribe() ? "+" : "-") + subscription.topic().toString(StandardCharsets.UTF_8)));
        pub.bind(ENDPOINT);
        sub = loop.open(ZMTPSocketConfig.builder(SUB));
        sub.onMessage((from, message) -> received.addAll(TestSockets.frames(message)));
        sub.connect(ENDPOINT);
        loop.run();
    }

    @AfterEach
    void close() {
        loop.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void oneThatIsGivenUpIsGone(boolean byItsTopic) throws Throwable {
        OtherThread.call(() -> ofThread.add(sub.subscribe("a")));

        if (byItsTopic) {
            sub.unsubscribe("a");
        } else {
            ofThread.get(0).close();
        }

        loop.run();
        pub.sendOrDrop(message("a1"));
        loop.run();
        assertThat(received).isEmpty();
    }

    @Test
    void oneThatIsGivenUpLeavesAnotherOfTheTopicAsItIs() throws Throwable {
        sub.subscribe("a");
        loop.run();
        heard.clear();
        OtherThread.call(() -> ofThread.add(sub.subscribe("a")));

        ofThread.get(0).close();

        loop.run();
        assertThat(heard).isEmpty();
    }

    @Test
    void oneThatTheEventLoopMakesAfterItIsGivenUpStays() throws Throwable {
        OtherThread.call(() -> ofThread.add(sub.subscribe("a")));

        sub.unsubscribe("a");
        sub.subscribe("a");

        loop.run();
        pub.sendOrDrop(message("a1"));
        loop.run();
        assertThat(received).containsExactly("a1");
    }
}
