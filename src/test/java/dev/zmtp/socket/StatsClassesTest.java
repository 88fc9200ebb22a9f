package dev.zmtp.socket;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.internal.socket.context.MessageCounts;
import java.lang.reflect.Constructor;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The counts that an application gets. */
class StatsClassesTest {

    private static ZMTPStats stats(long sent, Duration oldestAge) {
        return new ZMTPStats(new MessageCounts(sent, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, oldestAge));
    }

    @Test
    void eachCountHasItsAccessor() {
        ZMTPStats stats = stats(1, Duration.ofSeconds(15));

        assertThat(Stream.of(
                        stats.sent(),
                        stats.written(),
                        stats.queued(),
                        stats.queuedBytes(),
                        stats.dropped(),
                        stats.outcomeUnknown(),
                        stats.received(),
                        stats.malformed(),
                        stats.lateReplies(),
                        stats.discarded(),
                        stats.connects(),
                        stats.handshakeFailures(),
                        stats.writtenBytes(),
                        stats.receivedBytes(),
                        stats.oldestAge().toSeconds()))
                .containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L, 11L, 12L, 13L, 14L, 15L);
        assertThat(stats)
                .hasToString("ZMTPStats[sent=1, written=2, queued=3, queuedBytes=4, dropped=5, outcomeUnknown=6, "
                        + "received=7, malformed=8, lateReplies=9, discarded=10, connects=11, handshakeFailures=12, "
                        + "writtenBytes=13, receivedBytes=14, oldestAge=PT15S]");
    }

    @Test
    void statsAreEqualIfAllCountsAre() {
        assertThat(stats(1, Duration.ZERO))
                .isEqualTo(stats(1, Duration.ZERO))
                .hasSameHashCodeAs(stats(1, Duration.ZERO))
                .isNotEqualTo(stats(2, Duration.ZERO))
                .isNotEqualTo(stats(1, Duration.ofMillis(1)))
                .isNotEqualTo("ZMTPStats");
    }

    @Test
    void statsOfAProxyAreEqualIfAllCountsAre() {
        ZMTPProxy.SideStats side = new ZMTPProxy.SideStats(1, 2, 3, 4, 5);
        assertThat(side)
                .isEqualTo(new ZMTPProxy.SideStats(1, 2, 3, 4, 5))
                .hasSameHashCodeAs(new ZMTPProxy.SideStats(1, 2, 3, 4, 5))
                .isNotEqualTo(new ZMTPProxy.SideStats(0, 2, 3, 4, 5))
                .isNotEqualTo(new ZMTPProxy.SideStats(1, 0, 3, 4, 5))
                .isNotEqualTo(new ZMTPProxy.SideStats(1, 2, 0, 4, 5))
                .isNotEqualTo(new ZMTPProxy.SideStats(1, 2, 3, 0, 5))
                .isNotEqualTo(new ZMTPProxy.SideStats(1, 2, 3, 4, 0))
                .hasToString("SideStats[messagesReceived=1, bytesReceived=2, messagesSent=3, bytesSent=4, dropped=5]");

        ZMTPProxy.SideStats none = new ZMTPProxy.SideStats(0, 0, 0, 0, 0);
        assertThat(new ZMTPProxy.Stats(side, none, 6, 7))
                .isEqualTo(new ZMTPProxy.Stats(side, none, 6, 7))
                .hasSameHashCodeAs(new ZMTPProxy.Stats(side, none, 6, 7))
                .isNotEqualTo(new ZMTPProxy.Stats(none, none, 6, 7))
                .isNotEqualTo(new ZMTPProxy.Stats(side, side, 6, 7))
                .isNotEqualTo(new ZMTPProxy.Stats(side, none, 0, 7))
                .isNotEqualTo(new ZMTPProxy.Stats(side, none, 6, 0))
                .hasToString("Stats[frontend=" + side + ", backend=" + none + ", captured=6, captureDropped=7]");
    }

    /** A count can be added later, because nobody else has called a constructor. */
    @Test
    void onlyTheLibraryMakesStats() {
        assertThat(Stream.of(ZMTPStats.class, ZMTPProxy.Stats.class, ZMTPProxy.SideStats.class)
                        .flatMap(type -> Stream.of(type.getDeclaredConstructors()))
                        .map(Constructor::getModifiers))
                .hasSize(3)
                .noneMatch(modifiers -> Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers));
    }
}
