package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.SUB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.CapturedLog;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A publisher that refuses a subscriber for its topics. */
class RefusedTopicsTest {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final RefusedTopics refused = new RefusedTopics();
    private final ClosedChannelException closed = new ClosedChannelException();

    @Test
    void theSecondEndSoonAfterManyTopicsIsExplained() {
        assertThat(refused.of(closed, 12_000, SECOND)).isSameAs(closed);
        assertThat(refused.explains(closed)).isFalse();

        Throwable second = refused.of(closed, 12_000, SECOND);

        assertThat(second)
                .hasMessage("PEER_DOWN: closed by the peer soon after 12000 topics, 2 times in a row "
                        + "(expected: a publisher whose maxSubscriptions allows so many)")
                .hasCause(closed);
        assertThat(refused.explains(second)).isTrue();
    }

    @Test
    void otherEndsAreWhatTheyAre() {
        ZMTPException incompatible = ZMTPException.tooLarge("frame length", 2, 1);
        for (int i = 0; i < 3; i++) {
            assertThat(refused.of(closed, RefusedTopics.MANY - 1, SECOND)).isSameAs(closed);
            assertThat(refused.of(closed, 12_000, 10 * SECOND)).isSameAs(closed);
            assertThat(refused.of(incompatible, 12_000, SECOND)).isSameAs(incompatible);
            assertThat(refused.of(closed, 12_000, SECOND)).as("not in a row").isSameAs(closed);
        }
    }

    /** The log and the events say it, and the waits are those of a refusal. */
    @Test
    @Tag("netty-4.2-only")
    void aConnectorWhoseTopicsAreRefusedSaysSoAndWaits() {
        List<ZMTPSocketEvent.Retrying> retries = new ArrayList<>();
        try (CapturedLog log = new CapturedLog("dev.zmtp.socket.ConnectLog");
                ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            ZMTPSocket publisher = loop.open(ZMTPSocketConfig.builder(PUB).codec(c -> c.maxSubscriptions(1_500)));
            publisher.bind("test://refused-topics");
            ZMTPSocket subscriber = loop.open(ZMTPSocketConfig.builder(SUB));
            subscriber.onEvent(Runnable::run, event -> {
                if (event instanceof ZMTPSocketEvent.Retrying retry) {
                    retries.add(retry);
                }
            });
            for (int i = 0; i < 2_000; i++) {
                subscriber.subscribe("topic" + i);
            }
            subscriber.connect("test://refused-topics");
            loop.run();

            loop.advance(Duration.ofMinutes(2));

            assertThat(retries).hasSizeBetween(5, 15);
            assertThat(retries.subList(2, retries.size())).allSatisfy(retry -> {
                assertThat(retry.kind()).isEqualTo(ZMTPSocketEvent.FailureKind.REJECTED);
                assertThat(retry.cause()).hasMessageContaining("2000 topics");
            });
            assertThat(log.lines).anyMatch(line -> line.contains("whose maxSubscriptions allows so many"));
        }
    }
}
