package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.util.IllegalReferenceCountException;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Random;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.ObjIntConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who gets a message, whatever topics peers think of, and what it costs to find out. */
class ZMTPTopicMatcherTest {

    private final ZMTPTopicMatcher<String> matcher = new ZMTPTopicMatcher<>();

    private static ByteBuf topic(String text) {
        return Unpooled.wrappedBuffer(text.getBytes(StandardCharsets.ISO_8859_1))
                .asReadOnly();
    }

    private List<String> found(String message) {
        List<String> found = new ArrayList<>();
        matcher.match(topic(message), found::add);
        return found;
    }

    // Which topics match

    @ParameterizedTest(name = "\"{0}\" and \"{1}\": {2}")
    @CsvSource({
        "'', '', true",
        "'', a, true",
        "a, a, true",
        "a, ab, true",
        "ab, a, false",
        "ab, ac, false",
        "ab, ba, false",
        "a, '', false",
        "a, A, false",
        "weather.bergen, weather.bergen.rain, true",
        "weather.bergen, weather.berlin, false"
    })
    void aTopicMatchesTheMessagesThatStartWithIt(String subscribed, String published, boolean matches) {
        matcher.add(topic(subscribed), "s");
        assertThat(found(published)).hasSize(matches ? 1 : 0);
    }

    @Test
    void aSubscriberIsFoundOnceHoweverManyOfItsTopicsMatch() {
        for (String prefix : List.of("", "a", "ab", "abc", "abcd")) {
            matcher.add(topic(prefix), "s");
            matcher.add(topic(prefix), "t");
        }
        assertThat(found("abc")).containsExactlyInAnyOrder("s", "t");
        assertThat(found("abc")).containsExactlyInAnyOrder("s", "t");
    }

    @Test
    void everyByteMayStandInATopic() {
        for (int i = 255; i >= 0; i--) {
            matcher.add(Unpooled.wrappedBuffer(new byte[] {'t', (byte) i}), Integer.toString(i));
        }
        for (int i = 0; i < 256; i++) {
            List<String> found = new ArrayList<>();
            matcher.match(Unpooled.wrappedBuffer(new byte[] {'t', (byte) i, (byte) i}), found::add);
            assertThat(found).containsExactly(Integer.toString(i));
        }
        for (int i = 0; i < 256; i += 2) {
            matcher.remove(Unpooled.wrappedBuffer(new byte[] {'t', (byte) i}), Integer.toString(i));
        }
        for (int i = 0; i < 256; i++) {
            assertThat(matcher.subscriberCount(Unpooled.wrappedBuffer(new byte[] {'t', (byte) i})))
                    .isEqualTo(i % 2);
        }
    }

    @Test
    void onlyReadableBytesCountAndNoIndexIsMoved() {
        ByteBuf buffer = Hex.buffer("00 61 62 00");
        buffer.setIndex(1, 3);

        matcher.add(buffer, "s");
        List<String> found = new ArrayList<>();
        matcher.match(buffer, found::add);

        assertThat(found).containsExactly("s");
        assertThat(matcher.subscriberCount(topic("ab"))).isEqualTo(1);
        assertThat(matcher.subscriberCount(buffer)).isEqualTo(1);
        assertThat(matcher.remove(buffer, "s")).isTrue();
        assertThat(buffer.readerIndex()).isEqualTo(1);
        assertThat(buffer.writerIndex()).isEqualTo(3);
        assertThat(buffer.refCnt()).isEqualTo(1);
        buffer.release();
    }

    @Test
    void theBytesOfATopicAreCopied() {
        ByteBuf buffer = Hex.buffer("61 62");
        matcher.add(buffer, "s");
        buffer.setZero(0, 2).release();

        assertThat(found("ab")).containsExactly("s");
    }

    // A set

    @Test
    void aTopicThatIsAddedTwiceIsRemovedOnce() {
        assertThat(matcher.add(topic("a"), "s")).isTrue();
        assertThat(matcher.add(topic("a"), "s")).isFalse();
        assertThat(matcher.size()).isEqualTo(1);
        assertThat(matcher.remove(topic("a"), "s")).isTrue();
        assertThat(matcher.remove(topic("a"), "s")).isFalse();
        assertThat(found("a")).isEmpty();
    }

    @Test
    void theSubscribersOfATopicAreCountedWithoutThoseOfItsPrefixes() {
        matcher.add(topic("a"), "s");
        matcher.add(topic("abc"), "s");
        matcher.add(topic("abc"), "t");

        assertThat(matcher.subscriberCount(topic("a"))).isEqualTo(1);
        assertThat(matcher.subscriberCount(topic("ab"))).isZero();
        assertThat(matcher.subscriberCount(topic("abc"))).isEqualTo(2);
        assertThat(matcher.subscriberCount(topic("abcd"))).isZero();
        assertThat(matcher.subscriberCount(topic("b"))).isZero();
    }

    @Test
    void removingWhatWasNotAddedChangesNothing() {
        matcher.add(topic("abc"), "s");
        matcher.add(topic("abd"), "t");
        long memory = matcher.memory();

        assertThat(matcher.remove(topic("abc"), "t")).isFalse();
        assertThat(matcher.remove(topic("ab"), "s")).isFalse();
        assertThat(matcher.remove(topic("abcd"), "s")).isFalse();
        assertThat(matcher.remove(topic(""), "s")).isFalse();
        assertThat(matcher.remove(topic("abc"), "u")).isFalse();
        assertThat(matcher.removeAll("u")).isZero();

        assertThat(matcher.size()).isEqualTo(2);
        assertThat(matcher.memory()).isEqualTo(memory);
        assertThat(found("abc")).containsExactly("s");
    }

    @Test
    void allTopicsOfASubscriberAreRemovedAtOnceAndThoseOfOthersStay() {
        for (int i = 0; i < 100; i++) {
            matcher.add(topic("topic " + i), "s");
            matcher.add(topic("topic " + i / 2), "t");
        }
        assertThat(matcher.size()).isEqualTo(150);
        assertThat(matcher.removeAll("s")).isEqualTo(100);
        assertThat(matcher.size()).isEqualTo(50);
        assertThat(found("topic 1")).containsExactly("t");
        assertThat(found("topic 99")).containsExactly("t"); // by "topic 9"
        assertThat(matcher.removeAll("t")).isEqualTo(50);
        assertThat(matcher.isEmpty()).isTrue();
        assertThat(matcher.memory()).isZero();
    }

    // The action may do anything

    @Test
    void someTopicsOfASubscriberAreRemovedWithTheNumberOfTheirOtherSubscribers() {
        for (String text : List.of("", "a", "ab", "abc")) {
            matcher.add(topic(text), "s");
        }
        matcher.add(topic("a"), "t");
        matcher.add(topic("abc"), "t");
        matcher.add(topic("abc"), "u");
        Map<String, Integer> removed = new HashMap<>();
        ObjIntConsumer<ByteBuf> action = (topic, others) -> removed.put(topic.toString(StandardCharsets.UTF_8), others);

        assertThat(matcher.removeSome("s", 3, action)).isEqualTo(3);
        assertThat(removed).hasSize(3);
        assertThat(matcher.size()).isEqualTo(4);
        assertThat(matcher.removeSome("s", 3, action)).isEqualTo(1);

        assertThat(removed).isEqualTo(Map.of("", 0, "a", 1, "ab", 0, "abc", 2));
        assertThat(matcher.removeSome("s", 3, action)).isZero();
        assertThat(matcher.size()).isEqualTo(3);
    }

    @Test
    void manyTopicsAreRemovedInStepsBetweenWhichOthersAreAdded() {
        for (int i = 0; i < 1_000; i++) {
            matcher.add(topic("topic " + i), "s");
        }
        List<String> removed = new ArrayList<>();
        int added = 1_000;
        while (matcher.removeSome("s", 7, (topic, others) -> removed.add(topic.toString(StandardCharsets.UTF_8)))
                == 7) {
            matcher.add(topic("topic " + added++), "s");
        }

        assertThat(removed).doesNotHaveDuplicates().hasSize(added);
        assertThat(matcher.isEmpty()).isTrue();
        assertThat(matcher.memory()).isZero();
    }

    @Test
    void anActionMayRemoveSubscribersAndThoseAreNotCalled() {
        for (int i = 0; i < 10; i++) {
            matcher.add(topic("a"), "s" + i);
        }
        List<String> found = new ArrayList<>();
        matcher.match(topic("a"), subscriber -> {
            found.add(subscriber);
            for (int i = 0; i < 10; i++) {
                matcher.removeAll("s" + i);
            }
        });
        assertThat(found).hasSize(1);
        assertThat(matcher.isEmpty()).isTrue();
        assertThat(matcher.memory()).isZero();
    }

    @Test
    void aSubscriberThatAnActionAddsIsNotCalled() {
        matcher.add(topic("a"), "s");
        List<String> found = new ArrayList<>();
        matcher.match(topic("a"), subscriber -> {
            found.add(subscriber);
            for (int i = 0; i < 100; i++) {
                matcher.add(topic("a"), "new " + i);
            }
        });
        assertThat(found).containsExactly("s");
        assertThat(found("a")).hasSize(101);
    }

    @Test
    void anActionMayMatchAgain() {
        for (int i = 0; i < 20; i++) {
            matcher.add(topic("a"), "s" + i);
        }
        List<String> inner = new ArrayList<>();
        List<String> outer = new ArrayList<>();
        matcher.match(topic("a"), subscriber -> {
            outer.add(subscriber);
            matcher.match(topic("ab"), inner::add);
        });
        assertThat(outer).hasSize(20).doesNotHaveDuplicates();
        assertThat(inner).hasSize(400);
    }

    @Test
    void anActionThatThrowsEndsTheMatchAndLeavesNothing() {
        matcher.add(topic("a"), "s");
        matcher.add(topic("a"), "t");
        assertThatThrownBy(() -> matcher.match(topic("a"), subscriber -> {
                    throw new IllegalStateException(subscriber);
                }))
                .isInstanceOf(IllegalStateException.class);

        assertThat(found("a")).containsExactlyInAnyOrder("s", "t");
        matcher.removeAll("s");
        matcher.removeAll("t");
        assertThat(matcher.memory()).isZero();
    }

    // Bounds

    @Test
    void oneTopicOverTheBoundIsRefusedAndNothingChanges() {
        ZMTPTopicMatcher<String> small = new ZMTPTopicMatcher<>(2, 1 << 20);
        small.add(topic("a"), "s");
        small.add(topic("b"), "s");
        long memory = small.memory();

        assertThat(small.add(topic("a"), "s")).isFalse();
        assertThatThrownBy(() -> small.add(topic("c"), "t"))
                .isInstanceOf(ZMTPException.class)
                .hasMessage("topics of all subscribers: 3 (expected: <= 2)")
                .extracting(e -> ((ZMTPException) e).code())
                .isEqualTo(ZMTPException.Code.TOO_LARGE);

        assertThat(small.size()).isEqualTo(2);
        assertThat(small.memory()).isEqualTo(memory);
        small.remove(topic("b"), "s");
        assertThat(small.add(topic("c"), "t")).isTrue();
    }

    @Test
    void oneByteOverTheBoundOfMemoryIsRefusedAndNothingChanges() {
        ZMTPTopicMatcher<String> measure = new ZMTPTopicMatcher<>();
        measure.add(topic("common, and one"), "s");
        long one = measure.memory();
        measure.add(topic("common, and two"), "t");
        long two = measure.memory();

        ZMTPTopicMatcher<String> small = new ZMTPTopicMatcher<>(100, two - 1);
        small.add(topic("common, and one"), "s");
        assertThatThrownBy(() -> small.add(topic("common, and two"), "t"))
                .isInstanceOf(ZMTPException.class)
                .hasMessage("memory of the topics of all subscribers: " + two + " (expected: <= " + (two - 1) + ")");

        assertThat(small.size()).isEqualTo(1);
        assertThat(small.memory()).isEqualTo(one);
        assertThat(small.subscriberCount(topic("common, and two"))).isZero();
        assertThat(small.removeAll("t")).isZero();
        assertThat(small.removeAll("s")).isEqualTo(1);
        assertThat(small.memory()).isZero();

        ZMTPTopicMatcher<String> enough = new ZMTPTopicMatcher<>(100, two);
        enough.add(topic("common, and one"), "s");
        assertThat(enough.add(topic("common, and two"), "t")).isTrue();
    }

    @Test
    void aSubscriberThatIsRefusedLeavesNothing() {
        ZMTPTopicMatcher<Integer> full = new ZMTPTopicMatcher<>(4, 1 << 20);
        for (int i = 0; i < 4; i++) {
            full.add(topic("a"), i);
        }
        long memory = full.memory();
        assertThatThrownBy(() -> full.add(topic("a"), 4)).isInstanceOf(ZMTPException.class);
        assertThat(full.memory()).isEqualTo(memory);
    }

    @Test
    void memoryIsGivenBackAsSubscribersLeave() {
        ZMTPTopicMatcher<Integer> shared = new ZMTPTopicMatcher<>();
        shared.add(topic("a"), 0);
        long one = shared.memory();
        for (int i = 1; i < 1_000; i++) {
            shared.add(topic("a"), i);
        }
        for (int i = 999; i > 0; i--) {
            long before = shared.memory();
            shared.removeAll(i);
            assertThat(shared.memory()).isLessThan(before);
        }
        assertThat(shared.memory()).isLessThan(2 * one);
    }

    @Test
    void memoryIsGivenBackAsTopicsAreRemoved() {
        matcher.add(topic("0"), "s");
        long one = matcher.memory();
        for (int i = 1; i < 1_000; i++) {
            matcher.add(topic(Integer.toString(i)), "s");
        }
        for (int i = 999; i > 0; i--) {
            assertThat(matcher.isEmpty()).isFalse();
            long before = matcher.memory();
            matcher.remove(topic(Integer.toString(i)), "s");
            assertThat(matcher.memory()).isLessThan(before);
        }
        assertThat(matcher.memory()).isLessThan(2 * one);
    }

    @Test
    void aMatchKeepsNoSubscriberThatHasLeft() {
        ZMTPTopicMatcher<Object> shared = new ZMTPTopicMatcher<>();
        Object last = new Object();
        for (Object subscriber : List.of("s", "t", "u", last)) {
            shared.add(topic("a"), subscriber);
        }
        shared.match(topic("a"), subscriber -> {});
        shared.removeAll(last);
        WeakReference<Object> forgotten = new WeakReference<>(last);
        last = null;
        for (int i = 0; i < 100 && forgotten.get() != null; i++) {
            System.gc();
            Thread.onSpinWait();
        }
        assertThat(forgotten.get()).isNull();
        assertThat(shared.size()).isEqualTo(3);
    }

    @Test
    void theMemoryNeverExceedsItsBound() {
        ZMTPTopicMatcher<Integer> small = new ZMTPTopicMatcher<>(1_000_000, 100_000);
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            try {
                small.add(topic("t" + i * 7919 % 3000), i % 50);
            } catch (ZMTPException e) {
                refused++;
                small.removeAll(i % 50);
            }
            assertThat(small.memory()).isBetween(0L, 100_000L);
        }
        assertThat(refused).isPositive();
    }

    @Test
    void theDefaultBoundsAreAMillionTopicsAndAnEighthOfTheHeap() {
        assertThat(ZMTPTopicMatcher.DEFAULT_MAX_SIZE).isEqualTo(1_000_000);
        assertThat(ZMTPTopicMatcher.defaultMaxMemory())
                .isEqualTo(Math.min(64 << 20, Runtime.getRuntime().maxMemory() / 8));
    }

    @Test
    void boundsAreAtLeastOne() {
        assertThatThrownBy(() -> new ZMTPTopicMatcher<>(0, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("maxSize: 0 (expected: >= 1)");
        assertThatThrownBy(() -> new ZMTPTopicMatcher<>(1, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("maxMemory: 0 (expected: >= 1)");
    }

    // Work

    /** Counts the bytes that are read from it. */
    private static final class CountedReads extends UnpooledHeapByteBuf {
        private int reads;

        CountedReads(byte[] bytes) {
            super(UnpooledByteBufAllocator.DEFAULT, bytes, bytes.length);
        }

        @Override
        public byte getByte(int index) {
            reads++;
            return super.getByte(index);
        }
    }

    private static int reads(ZMTPTopicMatcher<?> matcher, String message) {
        CountedReads topic = new CountedReads(message.getBytes(StandardCharsets.ISO_8859_1));
        matcher.match(topic, subscriber -> {});
        return topic.reads;
    }

    @Test
    void aMatchAmongTenThousandTopicsReadsNoMoreThanAmongOne() {
        ZMTPTopicMatcher<String> one = new ZMTPTopicMatcher<>();
        one.add(topic("topic.09999"), "s");
        for (int i = 0; i < 10_000; i++) {
            matcher.add(topic(String.format("topic.%05d", i)), "s");
        }

        assertThat(reads(matcher, "topic.09999")).isEqualTo(11).isEqualTo(reads(one, "topic.09999"));
        assertThat(reads(matcher, "nothing")).isEqualTo(reads(one, "nothing"));
    }

    @Test
    void topicsThatNobodyPublishesCostAPublishedOneNothing() {
        matcher.add(topic("news"), "honest");
        for (int subscriber = 0; subscriber < 50; subscriber++) {
            for (int i = 0; i < 9_999; i++) {
                matcher.add(topic("never " + i), "subscriber " + subscriber);
            }
        }
        assertThat(matcher.size()).isEqualTo(50 * 9_999 + 1);
        assertThat(reads(matcher, "news")).isEqualTo(4);
        assertThat(found("news")).containsExactly("honest");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 100, 2_000})
    void aMatchReadsEachByteAtMostOnceWhateverTheTopicsShare(int shared) {
        String common = "x".repeat(8000);
        for (int i = 0; i < shared; i++) {
            matcher.add(topic(common.substring(0, 8000 - i) + i), "s");
        }
        assertThat(reads(matcher, common + "y".repeat(192))).isLessThanOrEqualTo(8192);
    }

    @Test
    void aMatchAllocatesNothing() {
        for (int i = 0; i < 1000; i++) {
            matcher.add(topic("t"), "subscriber " + i);
            matcher.add(topic("topic " + i), "subscriber " + i);
        }
        ByteBuf topic = topic("topic 999");
        Consumer<String> action = subscriber -> {};
        matcher.match(topic, action);
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 10_000; i++) {
            matcher.match(topic, action);
        }
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(10_000); // less than a byte for each
    }

    // Depth

    @Test
    void aTopicMayHaveEightThousandPrefixesThatAreTopicsToo() {
        byte[] bytes = new byte[8192];
        Arrays.fill(bytes, (byte) 'a');
        for (int i = bytes.length; i >= 0; i--) {
            matcher.add(Unpooled.wrappedBuffer(bytes, 0, i), i % 2 == 0 ? "even" : "odd");
        }
        List<String> found = new ArrayList<>();
        matcher.match(Unpooled.wrappedBuffer(bytes), found::add);
        assertThat(found).containsExactlyInAnyOrder("even", "odd");
        assertThat(matcher.removeAll("even")).isEqualTo(4097);
        assertThat(found("aa")).containsExactly("odd");
        assertThat(matcher.removeAll("odd")).isEqualTo(4096);
        assertThat(matcher.memory()).isZero();
    }

    @Test
    void manySubscribersOfOneTopicLeaveInAnyOrder() {
        List<Integer> all = IntStream.range(0, 50_000).boxed().toList();
        ZMTPTopicMatcher<Integer> shared = new ZMTPTopicMatcher<>();
        all.forEach(i -> shared.add(topic("a"), i));
        all.stream().filter(i -> i % 3 == 0).forEach(shared::removeAll);
        all.stream()
                .filter(i -> i % 3 == 1)
                .forEach(i -> assertThat(shared.remove(topic("a"), i)).isTrue());
        List<Integer> found = new ArrayList<>();
        shared.match(topic("a"), found::add);
        assertThat(found).hasSize(50_000 / 3).allMatch(i -> i % 3 == 2);
    }

    @Test
    void aRefusedSubscriberLeavesTheMemoryAsItWasHoweverManyThereAre() {
        for (int n = 1; n <= 40; n++) {
            ZMTPTopicMatcher<Integer> full = new ZMTPTopicMatcher<>(n, 1 << 20);
            for (int i = 0; i < n; i++) {
                full.add(topic("t"), i);
            }
            long memory = full.memory();
            int newcomer = n;
            assertThatThrownBy(() -> full.add(topic("t"), newcomer)).isInstanceOf(ZMTPException.class);
            assertThat(full.memory()).as("with %d subscribers", n).isEqualTo(memory);
        }
    }

    @Test
    void theLastSubscriberOfATopicIsNotKeptWhenItIsRemoved() throws InterruptedException {
        ZMTPTopicMatcher<Object> objects = new ZMTPTopicMatcher<>();
        Object stays = new Object();
        Object goes = new Object();
        objects.add(topic("t"), stays);
        objects.add(topic("t"), goes);
        objects.remove(topic("t"), goes);
        WeakReference<Object> gone = new WeakReference<>(goes);
        goes = null;
        for (int i = 0; i < 100 && gone.get() != null; i++) {
            System.gc();
            Thread.sleep(1);
        }
        assertThat(gone.get()).isNull();
        assertThat(objects.subscriberCount(topic("t"))).isEqualTo(1);
    }

    @Test
    void eachTopicOfASubscriberIsFoundWhole() {
        ZMTPTopicMatcher<String> matcher = new ZMTPTopicMatcher<>();
        List<String> topics = List.of("", "a", "abc", "abd", "abcdef", "b");
        topics.forEach(text -> matcher.add(topic(text), "one"));
        matcher.add(topic("of another"), "another");
        List<String> found = new ArrayList<>();

        matcher.forEachTopic("one", its -> found.add(its.toString(StandardCharsets.UTF_8)));
        matcher.forEachTopic("nobody", its -> found.add("of nobody"));

        assertThat(found).containsExactlyInAnyOrderElementsOf(topics);
    }

    @Test
    void topicsFollowEachOtherInTheOrderOfTheirBytes() {
        ZMTPTopicMatcher<String> matcher = new ZMTPTopicMatcher<>();
        List.of("b", "abd", "", "abc", "abcdef", "a").forEach(text -> matcher.add(topic(text), "one"));
        matcher.add(Unpooled.wrappedBuffer(new byte[] {'a', -1}), "another"); // bytes are signed
        List<String> found = new ArrayList<>();

        for (ByteBuf next = matcher.topicAfter(null); next != null; next = matcher.topicAfter(next)) {
            found.add(ByteBufUtil.hexDump(next));
        }

        assertThat(found).containsExactly("", "61", "61ff", "616263", "616263646566", "616264", "62");
    }

    @Test
    void aTopicFollowsAnyBytes() {
        Random random = new Random(7);
        for (int run = 0; run < 300; run++) {
            ZMTPTopicMatcher<String> matcher = new ZMTPTopicMatcher<>();
            NavigableSet<byte[]> topics = new TreeSet<>(Arrays::compare);
            for (int i = random.nextInt(30); i > 0; i--) {
                byte[] added = fewBytes(random);
                topics.add(added);
                matcher.add(Unpooled.wrappedBuffer(added), "one");
                byte[] removed = fewBytes(random);
                topics.remove(removed);
                matcher.remove(Unpooled.wrappedBuffer(removed), "one");
            }
            for (int i = 0; i < 30; i++) {
                byte[] any = fewBytes(random);
                ByteBuf next = matcher.topicAfter(Unpooled.wrappedBuffer(any));
                assertThat(next == null ? null : ByteBufUtil.getBytes(next)).isEqualTo(topics.higher(any));
            }
        }
    }

    /** Up to four bytes of three values, so that many are a prefix of others. */
    private static byte[] fewBytes(Random random) {
        byte[] bytes = new byte[random.nextInt(5)];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = new byte[] {Byte.MIN_VALUE, 0, 7}[random.nextInt(3)];
        }
        return bytes;
    }

    @Test
    void aMatchThatFailsKeepsNothing() {
        for (int i = 0; i < 100; i++) {
            matcher.add(Unpooled.EMPTY_BUFFER, "s" + i);
        }
        matcher.add(Unpooled.wrappedBuffer(new byte[] {1}), "s");
        ByteBuf released = Unpooled.wrappedBuffer(new byte[] {1});
        released.release();

        for (int i = 0; i < 1_000; i++) {
            assertThatThrownBy(() -> matcher.match(released, found -> {}))
                    .isInstanceOf(IllegalReferenceCountException.class);
        }
        for (int i = 0; i < 100; i++) {
            matcher.removeAll("s" + i);
        }
        matcher.removeAll("s");

        assertThat(matcher.memory()).isZero();
    }
}
