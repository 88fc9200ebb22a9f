package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.HeapMeter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a matcher counts is what it takes on the heap. */
@Tag("slow")
class ZMTPTopicMatcherMemoryTest {

    /** Peers that take what they can get, in one way each. None of them keeps objects of its own. */
    private enum Peers {
        /** Short topics of one subscriber. */
        SHORT {
            @Override
            void act(ZMTPTopicMatcher<Integer> matcher) {
                for (int i = 0; i < 100_000; i++) {
                    add(matcher, Integer.toString(i * 7919), 0);
                }
            }
        },
        /** Each topic costs a second node, where it parts from the next one. */
        PARTING {
            @Override
            void act(ZMTPTopicMatcher<Integer> matcher) {
                for (int i = 0; i < 1 << 16; i++) {
                    add(matcher, Integer.toBinaryString((1 << 16) | i), 0);
                }
            }
        },
        /** Random topics of 240 bytes, which have nothing in common. */
        LONG {
            @Override
            void act(ZMTPTopicMatcher<Integer> matcher) {
                Random random = new Random(1);
                byte[] topic = new byte[240];
                for (int i = 0; i < 30_000; i++) {
                    random.nextBytes(topic);
                    matcher.add(Unpooled.wrappedBuffer(topic), i % 100);
                }
            }
        },
        /** Each prefix of a topic is one. */
        NESTED {
            @Override
            void act(ZMTPTopicMatcher<Integer> matcher) {
                for (int i = 0; i < 12; i++) {
                    byte[] topic = Character.toString('a' + i).repeat(2_048).getBytes(StandardCharsets.ISO_8859_1);
                    for (int length = topic.length; length > 0; length--) {
                        matcher.add(Unpooled.wrappedBuffer(topic, 0, length), i);
                    }
                }
            }
        },
        /** Each subscriber has one topic, all the same. */
        MANY {
            @Override
            void act(ZMTPTopicMatcher<Integer> matcher) {
                for (Integer subscriber : SUBSCRIBERS) {
                    add(matcher, "a", subscriber);
                }
            }
        },
        /** Each of many subscribers has the same hundred topics. */
        SHARED {
            @Override
            void act(ZMTPTopicMatcher<Integer> matcher) {
                for (int i = 0; i < 200_000; i++) {
                    add(matcher, "topic " + i % 100, SUBSCRIBERS[i / 100]);
                }
            }
        },
        /** Subscribers come and go until few are left with few topics. */
        GONE {
            @Override
            void act(ZMTPTopicMatcher<Integer> matcher) {
                for (int i = 0; i < 200_000; i++) {
                    add(matcher, "topic " + i, SUBSCRIBERS[i / 100]);
                }
                for (int i = 0; i < 200_000; i++) {
                    if (i % 10 != 0) {
                        matcher.remove(topic("topic " + i), i / 100);
                    }
                }
            }
        };

        abstract void act(ZMTPTopicMatcher<Integer> matcher);

        static void add(ZMTPTopicMatcher<Integer> matcher, String topic, Integer subscriber) {
            matcher.add(topic(topic), subscriber);
        }

        static ByteBuf topic(String topic) {
            return Unpooled.wrappedBuffer(topic.getBytes(StandardCharsets.ISO_8859_1));
        }
    }

    /** They are there before, as a server's channels are. */
    private static final Integer[] SUBSCRIBERS =
            IntStream.range(0, 100_000).boxed().toArray(Integer[]::new);

    private long counted;

    @ParameterizedTest
    @EnumSource
    void whatIsCountedIsWhatTheHeapHolds(Peers peers) {
        long measured = HeapMeter.measure(() -> {
            ZMTPTopicMatcher<Integer> matcher = new ZMTPTopicMatcher<>(1_000_000, 64 << 20);
            peers.act(matcher);
            counted = matcher.memory();
            return matcher;
        });
        assertThat(counted / (double) measured)
                .as("counted %d, measured %d", counted, measured)
                .isBetween(0.95, 1.1);
    }

    @Test
    void anEmptyMatcherHoldsAlmostNothingHoweverFullItWas() {
        long measured = HeapMeter.measure(() -> {
            ZMTPTopicMatcher<Integer> matcher = new ZMTPTopicMatcher<>(1_000_000, 64 << 20);
            Peers.MANY.act(matcher);
            Peers.SHORT.act(matcher);
            for (int i = 0; i < 100_000; i++) {
                matcher.removeAll(i);
            }
            return matcher;
        });
        assertThat(measured).isLessThan(200_000);
    }
}
