package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A matcher does what a plain map of sets does, in any order of calls, and is empty after all of it. */
class ZMTPTopicMatcherModelTest {

    private static final int STEPS = 16_000;

    /** What topics look like. */
    private enum Topics {
        /** Few bytes and short: topics are prefixes of each other, and split and merge all the time. */
        NESTED {
            @Override
            String next(Random random) {
                StringBuilder topic = new StringBuilder();
                for (int i = random.nextInt(8); i > 0; i--) {
                    topic.append((char) ('a' + random.nextInt(2)));
                }
                return topic.toString();
            }
        },
        /** Every byte, so nodes have many children. */
        WIDE {
            @Override
            String next(Random random) {
                return "" + (char) random.nextInt(256) + (char) random.nextInt(3);
            }
        },
        /** Long runs that part anywhere. */
        LONG {
            @Override
            String next(Random random) {
                return "x".repeat(random.nextInt(200))
                        + (char) ('a' + random.nextInt(3))
                        + "y".repeat(random.nextInt(3));
            }
        };

        abstract String next(Random random);
    }

    /** The plain way: a set of topics for each subscriber. */
    private final Map<Integer, Set<String>> model = new HashMap<>();

    private final ZMTPTopicMatcher<Integer> matcher = new ZMTPTopicMatcher<>();

    @ParameterizedTest
    @EnumSource
    void itDoesWhatAMapOfSetsDoes(Topics topics) {
        Random random = new Random(42);
        for (int i = 0; i < STEPS; i++) {
            // Grows for some time, then shrinks: so all sizes come, and nothing at all between.
            boolean growing = i / 2000 % 2 == 0;
            step(random, topics.next(random), random.nextInt(12), growing ? 70 : 15);
        }
        assertThat(matcher.size()).isPositive();
        new ArrayList<>(model.keySet()).forEach(this::removeAll);
        assertThat(matcher.isEmpty()).isTrue();
        assertThat(matcher.memory()).isZero();
    }

    private void step(Random random, String topic, int subscriber, int adds) {
        int what = random.nextInt(100);
        if (what < adds) {
            boolean isNew =
                    model.computeIfAbsent(subscriber, s -> new HashSet<>()).add(topic);
            assertThat(matcher.add(buffer(topic), subscriber)).isEqualTo(isNew);
        } else if (what < 99) {
            Set<String> its = model.getOrDefault(subscriber, new HashSet<>());
            String removed = random.nextBoolean() || its.isEmpty()
                    ? topic
                    : its.iterator().next();
            assertThat(matcher.remove(buffer(removed), subscriber)).isEqualTo(its.remove(removed));
        } else {
            removeAll(subscriber);
        }
        check(topic);
    }

    private void removeAll(int subscriber) {
        Set<String> removed = model.remove(subscriber);
        assertThat(matcher.removeAll(subscriber)).isEqualTo(removed == null ? 0 : removed.size());
    }

    private void check(String topic) {
        int size = model.values().stream().mapToInt(Set::size).sum();
        assertThat(matcher.size()).isEqualTo(size);
        assertThat(matcher.memory() == 0).isEqualTo(size == 0);
        assertThat(matcher.subscriberCount(buffer(topic))).isEqualTo((int)
                model.values().stream().filter(its -> its.contains(topic)).count());
        Set<Integer> expected = new TreeSet<>();
        model.forEach((subscriber, its) -> {
            if (its.stream().anyMatch(topic::startsWith)) {
                expected.add(subscriber);
            }
        });
        List<Integer> found = new ArrayList<>();
        matcher.match(buffer(topic), found::add);
        assertThat(found).containsExactlyInAnyOrderElementsOf(expected);
    }

    private static ByteBuf buffer(String topic) {
        return Unpooled.wrappedBuffer(topic.getBytes(StandardCharsets.ISO_8859_1));
    }
}
