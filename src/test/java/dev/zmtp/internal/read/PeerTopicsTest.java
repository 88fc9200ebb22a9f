package dev.zmtp.internal.read;

import static dev.zmtp.ZMTPSocketType.PUB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPTopicMatcher;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.connection.Overhead;
import dev.zmtp.testing.HeapMeter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is kept of a peer's topics, and what they count. */
class PeerTopicsTest {

    private static final String ZEROS = "0".repeat(240);

    private static ByteBuf topic(String text) {
        return Unpooled.wrappedBuffer(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static PeerTopics topics(int maxTopics, long maxLength) {
        return new PeerTopics(
                ZMTPConfig.builder()
                        .socketType(PUB)
                        .maxSubscriptions(maxTopics)
                        .maxSubscriptionsLength(maxLength)
                        .build(),
                false);
    }

    private static PeerTopics unlimited() {
        return topics(Integer.MAX_VALUE, Long.MAX_VALUE);
    }

    /** What a peer may subscribe to that takes more than it counts, or so it hopes. */
    private enum Topics {
        SHORT,
        /** In a tree, each of them parts from the next one at a node of its own. */
        PARTING,
        LONG,
        LONG_WITH_NOTHING_IN_COMMON;

        String make(int i) {
            return switch (this) {
                case SHORT -> Integer.toString(i, Character.MAX_RADIX);
                case PARTING -> Integer.toBinaryString((1 << 17) | i);
                case LONG -> ZEROS + i;
                case LONG_WITH_NOTHING_IN_COMMON -> Integer.reverse(i) + ZEROS;
            };
        }
    }

    @ParameterizedTest
    @EnumSource
    void theCodecAndAPublisherKeepNoMoreThanTopicsCount(Topics kind) {
        // Just after both have grown, so that most of what they hold is room.
        for (int count : new int[] {86, 1_366, 5_462, 10_000}) {
            PeerTopics topics = unlimited();
            ZMTPTopicMatcher<String> publisher = new ZMTPTopicMatcher<>();
            long counted = 0;
            for (int i = 0; i < count; i++) {
                ByteBuf topic = topic(kind.make(i));
                topics.update(true, topic);
                publisher.add(topic, "peer");
                counted += Overhead.PER_TOPIC + topic.readableBytes();
            }
            assertThat(topics.memory() + publisher.memory()).isLessThanOrEqualTo(counted);
        }
    }

    @Tag("heap")
    @ParameterizedTest
    @ValueSource(ints = {6, 240})
    void memoryIsWhatTheHeapHoldsWhateverTheLengthOfTheTopics(int length) {
        long[] counted = new long[1];
        long measured = HeapMeter.measure(() -> {
            PeerTopics topics = unlimited();
            for (int i = 0; i < 150_000; i++) {
                topics.update(true, topic((i + "." + ZEROS).substring(0, length)));
            }
            counted[0] = topics.memory();
            return topics;
        });
        assertThat(counted[0] / (double) measured).isBetween(0.98, 1.02);
    }

    @Test
    void allTopicsMayBeAsLongAsTheLimitAndNotAByteLonger() {
        int limit = 2 * Overhead.PER_TOPIC + 5;
        PeerTopics topics = topics(10, limit);
        topics.update(true, topic("ab"));
        topics.update(true, topic("cde"));
        assertThat(topics.counted()).isEqualTo(limit);
        topics.update(false, topic("ab"));
        ByteBuf longer = topic("abc");
        assertThatThrownBy(() -> topics.update(true, longer))
                .isInstanceOf(ZMTPException.class)
                .hasMessage("length of all subscriptions: 518 (expected: <= 517)");
    }

    @Test
    void tenThousandTopicsKeepNoMoreThan24BytesEach() {
        PeerTopics topics = topics(10_000, 10_000 * (240L + Overhead.PER_TOPIC));
        for (int i = 0; i < 10_000; i++) {
            topics.update(true, topic((i + "." + ZEROS).substring(0, 240)));
        }
        assertThat(topics.memory()).isBetween(10_000 * 8L, 10_000 * 24L + 64);
    }

    @Test
    void aPeerThatCancelsEverythingLeavesNothing() {
        PeerTopics topics = unlimited();
        for (int i = 0; i < 10_000; i++) {
            topics.update(true, topic("topic " + i));
        }
        for (int i = 0; i < 10_000; i++) {
            assertThat(topics.memory()).isPositive();
            topics.update(false, topic("topic " + i));
        }
        assertThat(topics.memory()).isZero();
    }

    /** Topics that are easily taken for each other: they differ by zeros, by their order or in their last bytes. */
    @Test
    void noTwoTopicsAreTakenForTheSame() {
        Fingerprints topics = new Fingerprints();
        Set<Long> fingerprints = new HashSet<>();
        int texts = 0;
        for (int length = 0; length <= 8192; length += length < 600 ? 1 : 97) {
            fingerprints.add(topics.of(topic("\0".repeat(length))));
            texts++;
        }
        for (int a = 0; a < 256; a++) {
            for (int b = 0; b < 256; b++) {
                if (a != 0 || b != 0) {
                    fingerprints.add(topics.of(topic("" + (char) a + (char) b)));
                    fingerprints.add(topics.of(topic((char) a + ZEROS + (char) b)));
                    texts += 2;
                }
            }
        }
        assertThat(fingerprints).hasSize(texts).doesNotContain(0L);
    }

    @Test
    void indicesDoNotMatterAndAreNotMoved() {
        Fingerprints topics = new Fingerprints();
        ByteBuf inside = topic("xxtopicxx").setIndex(2, 7);
        assertThat(topics.of(inside)).isEqualTo(topics.of(topic("topic")));
        assertThat(inside.readerIndex()).isEqualTo(2);
    }

    @Test
    void topicsAreAddedAndRemovedInAnyOrder() {
        Random random = new Random(7);
        Set<Long> model = new HashSet<>();
        Fingerprints fingerprints = new Fingerprints();
        for (int i = 0; i < 200_000; i++) {
            long fingerprint = 1L + random.nextInt(3000);
            if (random.nextInt(100) < (i / 10_000 % 2 == 0 ? 70 : 25)) {
                assertThat(fingerprints.add(fingerprint)).isEqualTo(model.add(fingerprint));
            } else {
                assertThat(fingerprints.remove(fingerprint)).isEqualTo(model.remove(fingerprint));
            }
            assertThat(fingerprints.size()).isEqualTo(model.size());
        }
    }
}
