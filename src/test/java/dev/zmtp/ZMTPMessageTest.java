package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.LeakPresenceDetector;
import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.EventExecutor;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who owns the frames of a message, how it is printed and compared, and what it reads and writes. */
class ZMTPMessageTest {

    private static final ByteBufAllocator ALLOC = ByteBufAllocator.DEFAULT;

    @ParameterizedTest(name = "{0} bytes")
    @ValueSource(ints = {0, 1, 100})
    void aCopiedFrameThatWasReleasedIsNotUsedAgain(int length) {
        ByteBuf in = ALLOC.buffer().writeZero(300);
        ZMTPMessage.Builder builder = new ZMTPMessage.Builder();
        ZMTPMessage first = builder.copy(in, length).build();
        ByteBuf frame = first.frame(0);
        first.release();
        frame.release(); // one release too many: the message owns it

        ZMTPMessage second = builder.copy(in, length).build();

        assertThat(second.frame(0)).isNotSameAs(frame);
        assertThat(second.frame(0).readableBytes()).isEqualTo(length);
        assertThat(second.release()).isTrue();
        in.release();
    }

    @Test
    void aMessageThatCannotBeWrittenLeavesNoBuffer() {
        ZMTPMessage message =
                ZMTPMessage.from(ALLOC.buffer().writeByte('a'), ALLOC.buffer().writeByte('b'));
        message.frame(1).release();

        assertThatThrownBy(() -> message.write(ALLOC, ZMTPVersion.ZMTP31))
                .isInstanceOf(IllegalReferenceCountException.class);

        message.frame(0).release(); // and the leak check sees nothing
    }

    private static List<String> frames(ZMTPMessage message) {
        List<String> frames = new ArrayList<>();
        message.forEach(frame -> frames.add(frame.toString(StandardCharsets.UTF_8)));
        return frames;
    }

    // Ownership. The leak check finds a missing release, the reference counts one too many

    @Test
    void aMessageOwnsItsOnlyFrame() {
        ByteBuf frame = Hex.buffer("61");
        ZMTPMessage message = ZMTPMessage.from(frame);

        assertThat(message.frame(0)).isSameAs(frame);
        assertThat(message.refCnt()).isOne();
        assertThat(message.release()).isTrue();
        assertThat(frame.refCnt()).isZero();
    }

    @Test
    void aMessageOwnsAllItsFrames() {
        ByteBuf first = Hex.buffer("61");
        ByteBuf second = Hex.buffer("62");
        ZMTPMessage message = ZMTPMessage.from(first, second);

        assertThat(message.release()).isTrue();
        assertThat(first.refCnt()).isZero();
        assertThat(second.refCnt()).isZero();
    }

    @Test
    void aMessageOwnsTheFramesOfACollection() {
        ByteBuf first = Hex.buffer("61");
        ByteBuf second = Hex.buffer("62");
        List<ByteBuf> list = new ArrayList<>(List.of(first, second));
        ZMTPMessage message = ZMTPMessage.from(list);
        list.clear();

        assertThat(frames(message)).containsExactly("a", "b");
        message.release();
        assertThat(first.refCnt()).isZero();
        assertThat(second.refCnt()).isZero();
    }

    @Test
    void theArrayOfFramesIsCopied() {
        ByteBuf[] array = {Hex.buffer("61"), Hex.buffer("62")};
        ZMTPMessage message = ZMTPMessage.from(array);
        array[0] = Unpooled.EMPTY_BUFFER;

        assertThat(frames(message)).containsExactly("a", "b");
        message.release();
    }

    @Test
    void aRetainedMessageLivesUntilTheLastRelease() {
        ByteBuf frame = Hex.buffer("61");
        ZMTPMessage message = ZMTPMessage.from(frame).retain().retain(2);

        assertThat(message.refCnt()).isEqualTo(4);
        assertThat(message.release(3)).isFalse();
        assertThat(frame.refCnt()).isOne();
        assertThat(message.release()).isTrue();
        assertThat(frame.refCnt()).isZero();
    }

    @Test
    void aReleaseSaysWhetherItWasTheLast() {
        ZMTPMessage message = ZMTPMessage.from(Hex.buffer("61")).retain();

        assertThat(message.release()).isFalse();
        assertThat(message.frame(0).refCnt()).isOne();
        assertThat(message.release()).isTrue();
    }

    @Test
    void aMessageIsReleasedOnce() {
        ZMTPMessage message = ZMTPMessage.from(Hex.buffer("61"));
        message.release();

        assertThatThrownBy(message::release).isInstanceOf(IllegalReferenceCountException.class);
    }

    /** On a thread of Netty's, where a released message is the next one that is created. */
    @Test
    void useOfAReleasedMessageIsReportedWhereMessagesAreRecycled() throws Exception {
        EventExecutor executor = new DefaultEventExecutor();
        try {
            executor.submit(this::useOfAReleasedMessageIsReported).get();
        } finally {
            executor.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        }
    }

    @Test
    void useOfAReleasedMessageIsReported() {
        ZMTPMessage message = ZMTPMessage.from(Hex.buffer("61"));
        message.release();
        ByteBuf pushed = Hex.buffer("62");
        ByteBuf out = Hex.buffer("");

        List.<ThrowingCallable>of(
                        () -> message.frame(0),
                        message::iterator,
                        () -> message.push(pushed),
                        message::pop,
                        () -> message.write(ZMTPVersion.ZMTP31),
                        () -> message.write(out, ZMTPVersion.ZMTP31),
                        message::retain,
                        () -> message.release(1))
                .forEach(use -> assertThatThrownBy(use).isInstanceOf(IllegalReferenceCountException.class));
        assertThat(message.size()).isZero();
        assertThat(message.refCnt()).isZero();
        assertThat(pushed.refCnt()).isZero();
        assertThat(out.isReadable()).isFalse();
        out.release();
    }

    @Test
    void aRefusedRetainOrReleaseChangesNothing() {
        ZMTPMessage message = ZMTPMessage.from(Hex.buffer("61")).retain();

        assertThatThrownBy(() -> message.retain(Integer.MAX_VALUE)).isInstanceOf(IllegalReferenceCountException.class);
        assertThatThrownBy(() -> message.retain(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("increment: 0 (expected: > 0)");
        assertThatThrownBy(() -> message.release(3)).isInstanceOf(IllegalReferenceCountException.class);
        assertThatThrownBy(() -> message.release(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("decrement: 0 (expected: > 0)");
        assertThat(message.refCnt()).isEqualTo(2);
        assertThat(message.release(2)).isTrue();
    }

    @Test
    void aReleasedFrameDoesNotKeepTheOthersFromBeingReleased() {
        ByteBuf first = Hex.buffer("61");
        ByteBuf second = Hex.buffer("62");
        ZMTPMessage message = ZMTPMessage.from(first, second);
        first.release();

        assertThat(message.release()).isTrue();
        assertThat(second.refCnt()).isZero();
    }

    @Test
    void pushOwnsTheFrameAndRetainsTheOthers() {
        ByteBuf old = Hex.buffer("62");
        ByteBuf pushed = Hex.buffer("61");
        ZMTPMessage message = ZMTPMessage.from(old);
        ZMTPMessage more = message.push(pushed);

        assertThat(frames(message)).containsExactly("b");
        assertThat(frames(more)).containsExactly("a", "b");
        assertThat(old.refCnt()).isEqualTo(2);
        assertThat(pushed.refCnt()).isOne();
        message.release();
        assertThat(frames(more)).containsExactly("a", "b");
        more.release();
    }

    @Test
    void popRetainsTheRest() {
        ByteBuf first = Hex.buffer("61");
        ByteBuf second = Hex.buffer("62");
        ZMTPMessage message = ZMTPMessage.from(first, second);
        ZMTPMessage rest = message.pop();

        assertThat(frames(message)).containsExactly("a", "b");
        assertThat(frames(rest)).containsExactly("b");
        assertThat(first.refCnt()).isOne();
        assertThat(second.refCnt()).isEqualTo(2);
        message.release();
        assertThat(first.refCnt()).isZero();
        assertThat(frames(rest)).containsExactly("b");
        rest.release();
    }

    @Test
    void aCopyHasTheSameFramesAndKeepsNothingOfTheMessage() {
        ByteBuf read = Hex.buffer("61 00*2000 62 63*3000");
        ZMTPMessage message = ZMTPMessage.from(
                read.readRetainedSlice(2001),
                Unpooled.EMPTY_BUFFER,
                read.readRetainedSlice(1),
                read.readRetainedSlice(3000));
        read.release();

        ZMTPMessage copy = message.copy();

        assertThat(copy).isEqualTo(message);
        assertThat(message.refCnt()).isOne();
        assertThat(message.frame(0).readableBytes()).isEqualTo(2001);
        message.release();
        assertThat(read.refCnt()).isZero();
        assertThat(copy.frame(0).getByte(0)).isEqualTo((byte) 'a');
        assertThat(copy.frame(2).toString(StandardCharsets.US_ASCII)).isEqualTo("b");
        assertThat(copy.frame(3).readableBytes()).isEqualTo(3000);
        copy.release();
    }

    @Test
    void aCopyTakesNoMoreMemoryThanItsBytes() {
        UnpooledByteBufAllocator alloc = new UnpooledByteBufAllocator(false);
        ZMTPMessage message = ZMTPMessage.from(Hex.buffer("61*100"), Hex.buffer("62*50"));

        ZMTPMessage copy = ZMTPMessage.from(WireForm.copy(message, alloc));

        assertThat(alloc.metric().usedHeapMemory()).isEqualTo(150);
        message.release();
        copy.release();
        assertThat(alloc.metric().usedHeapMemory()).isZero();
    }

    @Test
    void aCopyOfAMessageWithoutFramesHasNone() {
        ZMTPMessage message = ZMTPMessage.fromUTF8("a");
        ZMTPMessage empty = message.pop();
        assertThat(empty.copy().size()).isZero();
        message.release();
        empty.release();
    }

    @Test
    void aCopyFailsAndTakesNothingIfAFrameWasReleased() {
        ByteBuf released = ALLOC.heapBuffer().writeByte('b');
        ZMTPMessage message = ZMTPMessage.from(Hex.buffer("61"), released);
        released.release();

        assertThatThrownBy(message::copy).isInstanceOf(IllegalReferenceCountException.class);
        message.release();
        assertThatThrownBy(message::copy).isInstanceOf(IllegalReferenceCountException.class);
    }

    /** The buffers that are written to differ: some find a released one's memory too short, others look. */
    @Test
    void aMessageWithAReleasedFrameIsNotWrittenToABufferOfAnyKind() {
        ByteBuf released = Unpooled.buffer().writeByte('b');
        ZMTPMessage message = ZMTPMessage.from(Hex.buffer("61"), released);
        released.release();
        for (ByteBuf out : List.of(
                Unpooled.buffer(),
                Unpooled.directBuffer(),
                PooledByteBufAllocator.DEFAULT.heapBuffer(),
                PooledByteBufAllocator.DEFAULT.directBuffer())) {
            assertThatThrownBy(() -> message.write(out, ZMTPVersion.ZMTP31))
                    .isInstanceOf(IllegalReferenceCountException.class);
            out.release();
        }
        message.release();
    }

    @Test
    void pushFailsAndRetainsNothingIfAFrameWasReleased() {
        ByteBuf released = ALLOC.heapBuffer().writeByte('b');
        ByteBuf good = Hex.buffer("61");
        ByteBuf pushed = Hex.buffer("63");
        ZMTPMessage message = ZMTPMessage.from(good, released);
        released.release();

        assertThatThrownBy(() -> message.push(pushed)).isInstanceOf(IllegalReferenceCountException.class);
        assertThat(pushed.refCnt()).isZero();
        assertThat(good.refCnt()).isOne();
        message.release();
    }

    @Test
    void popFailsAndRetainsNothingIfAFrameWasReleased() {
        ByteBuf released = ALLOC.heapBuffer().writeByte('b');
        ByteBuf good = Hex.buffer("61");
        ZMTPMessage message = ZMTPMessage.from(Hex.buffer("63"), good, released);
        released.release();

        assertThatThrownBy(message::pop).isInstanceOf(IllegalReferenceCountException.class);
        assertThat(good.refCnt()).isOne();
        message.release();
    }

    @Test
    void allFramesAreReleasedIfOneOfThemIsNull() {
        ByteBuf first = Hex.buffer("61");
        ByteBuf last = Hex.buffer("62");

        assertThatThrownBy(() -> ZMTPMessage.from(first, null, last))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("frame");
        assertThat(first.refCnt()).isZero();
        assertThat(last.refCnt()).isZero();
    }

    @Test
    void nothingIsLeftAfterTheOnlyFrame() {
        ZMTPMessage message = ZMTPMessage.fromUTF8("a");
        ZMTPMessage rest = message.pop();

        assertThat(rest.size()).isZero();
        assertThatThrownBy(rest::pop)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("frames: 0 (expected: >= 1)");
        ZMTPMessage again = rest.push(Hex.buffer("62"));
        assertThat(frames(again)).containsExactly("b");
        again.release();
        rest.release();
        message.release();
    }

    @Test
    void noFrameIsKeptIfOneOfTheTextsIsNull() {
        List<CharSequence> texts = new ArrayList<>(List.of("a", "b"));
        texts.add(null);

        assertThatThrownBy(() -> ZMTPMessage.fromUTF8(texts)).isInstanceOf(NullPointerException.class);
    }

    // Frames

    @Test
    void stringsBecomeFrames() {
        ZMTPMessage message = ZMTPMessage.fromUTF8("\u20ac", "", "b");

        assertThat(message.size()).isEqualTo(3);
        assertThat(Hex.dump(message.frame(0).retain())).isEqualTo("e282ac");
        assertThat(message.frame(1).isReadable()).isFalse();
        assertThat(message.readableBytes()).isEqualTo(4);
        message.release();
    }

    @Test
    void stringsBecomeFramesInAnyCharset() {
        ZMTPMessage message = ZMTPMessage.from(StandardCharsets.ISO_8859_1, "\u00e4", "");

        assertThat(Hex.dump(message.frame(0).retain())).isEqualTo("e4");
        assertThat(message.frame(1).isReadable()).isFalse();
        message.release();
    }

    @Test
    void stringsBecomeFramesOfAnAllocator() {
        ByteBufAllocator alloc = new UnpooledByteBufAllocator(false);
        ZMTPMessage one = ZMTPMessage.fromUTF8(alloc, "\u20ac", "b");
        ZMTPMessage other = ZMTPMessage.fromUTF8(alloc, List.of("\u20ac", "b"));

        assertThat(one).isEqualTo(other).hasSize(2);
        assertThat(one.frame(0).alloc()).isSameAs(alloc);
        assertThat(other.frame(0).alloc()).isSameAs(alloc);
        one.release();
        other.release();
    }

    @ParameterizedTest(name = "{0} frames, index {1}")
    @CsvSource({"1, -1", "1, 1", "2, 2", "2, -1", "0, 0"})
    void thereIsNoFrameOutsideTheBounds(int size, int index) {
        ZMTPMessage message = ZMTPMessage.fromUTF8(List.of("a", "b").subList(0, size));

        assertThatThrownBy(() -> message.frame(index))
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessage("frame: " + index + " (expected: >= 0 and < " + size + ")");
        message.release();
    }

    @Test
    void theIteratorEndsWithTheFrames() {
        ZMTPMessage message = ZMTPMessage.fromUTF8("a");
        Iterator<ByteBuf> frames = message.iterator();
        assertThat(frames.next()).isSameAs(message.frame(0));

        assertThat(frames.hasNext()).isFalse();
        assertThatThrownBy(frames::next)
                .isInstanceOf(NoSuchElementException.class)
                .hasMessage("frame: 1 (expected: < 1)");
        message.release();
    }

    @Test
    void theListOfFramesCannotBeChanged() {
        ZMTPMessage message = ZMTPMessage.fromUTF8("a", "b");
        Iterator<ByteBuf> frames = message.iterator();
        frames.next();

        assertThatThrownBy(frames::remove).isInstanceOf(UnsupportedOperationException.class);
        message.release();
    }

    @Test
    void theOnlyFrameIsReadWithoutArrayOrIterator() {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        ZMTPMessage message = ZMTPMessage.fromUTF8("a");
        long sum = 0;
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 100_000; i++) {
            sum += message.size() + message.frame(0).readableBytes();
        }
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;

        assertThat(sum).isEqualTo(200_000);
        assertThat(allocated).isLessThan(100_000); // less than a byte for each
        message.release();
    }

    // Equality

    @Test
    void messagesWithTheSameBytesAreEqual() {
        ZMTPMessage one = ZMTPMessage.from(Hex.buffer("61"), Hex.buffer(""));
        ZMTPMessage other = ZMTPMessage.from(Hex.buffer("aa 61").skipBytes(1), Unpooled.EMPTY_BUFFER);

        assertThat(one).isEqualTo(other).hasSameHashCodeAs(other).isEqualTo(one);
        one.release();
        other.release();
    }

    @Test
    void messagesWithOtherFramesAreNotEqual() {
        ZMTPMessage message = ZMTPMessage.fromUTF8("a", "b");
        ZMTPMessage content = ZMTPMessage.fromUTF8("a", "c");
        ZMTPMessage cut = ZMTPMessage.fromUTF8("ab");
        ZMTPMessage more = ZMTPMessage.fromUTF8("a", "b", "");

        assertThat(message)
                .isNotEqualTo(content)
                .isNotEqualTo(cut)
                .isNotEqualTo(more)
                .isNotEqualTo("a");
        assertThat(List.of(content.hashCode(), cut.hashCode(), more.hashCode())).doesNotContain(message.hashCode());
        List.of(message, content, cut, more).forEach(ZMTPMessage::release);
    }

    // toString

    @ParameterizedTest(name = "{1}")
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "`61 20 7e`,              `ZMTPMessage{[\"a ~\"]}`",
                "``,                      `ZMTPMessage{[\"\"]}`",
                "`61 00`,                 `ZMTPMessage{[0x6100]}`",
                "`7f`,                    `ZMTPMessage{[0x7f]}`",
                "`1f`,                    `ZMTPMessage{[0x1f]}`",
                "`c3 a4`,                 `ZMTPMessage{[0xc3a4]}`",
                "`61*32`,                 `ZMTPMessage{[\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"]}`",
                "`61*33`,                 `ZMTPMessage{[\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\".. 33 bytes]}`",
                "`00*31 ff 61`,           `ZMTPMessage{[0x00000000000000000000000000000000000000000000000000000000000000ff.. 33 bytes]}`"
            })
    void aFrameIsPrintedAsTextOrInHexUpTo32Bytes(String bytes, String printed) {
        ZMTPMessage message = ZMTPMessage.from(Hex.buffer(bytes));

        assertThat(message).hasToString(printed);
        assertThat(message.frame(0).readerIndex()).isZero();
        message.release();
    }

    @Test
    void eightFramesArePrinted() {
        ZMTPMessage message = ZMTPMessage.fromUTF8("1", "2", "3", "4", "5", "6", "7", "8");

        assertThat(message).hasToString("ZMTPMessage{[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\"]}");
        message.release();
    }

    @Test
    void theNinthFrameIsCountedAndNotPrinted() {
        ZMTPMessage message = ZMTPMessage.fromUTF8("1", "2", "3", "4", "5", "6", "7", "8", "9");

        assertThat(message).hasToString("ZMTPMessage{[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",.. 9 frames]}");
        message.release();
    }

    /** A frame that remembers with which hints it was touched, as one that is tracked for leaks does. */
    private static final class Touched extends UnpooledHeapByteBuf {
        private final List<Object> hints = new ArrayList<>();

        Touched() {
            super(UnpooledByteBufAllocator.DEFAULT, 1, 1);
        }

        @Override
        public ByteBuf touch(Object hint) {
            hints.add(hint);
            return this;
        }
    }

    @Test
    void touchReachesEachFrameWithItsHint() {
        Touched first = new Touched();
        Touched second = new Touched();
        ZMTPMessage message = ZMTPMessage.from(first, second);

        assertThat(message.touch("here")).isSameAs(message);
        assertThat(message.touch()).isSameAs(message);
        assertThat(first.hints).containsExactly("here", null);
        assertThat(second.hints).containsExactly("here", null);
        message.release();
    }

    @Test
    void theNumberOfFramesIsPrintedIfThereAreMany() {
        ByteBuf big = ALLOC.buffer(1 << 20).writeZero(1 << 20);
        List<ByteBuf> many = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            many.add(big.retainedDuplicate());
        }
        big.release();
        ZMTPMessage message = ZMTPMessage.from(many);

        assertThat(message.toString()).endsWith("bytes,.. 10000 frames]}").hasSizeLessThan(1000);
        assertThat(message.readableBytes()).isEqualTo(10_000L << 20);
        message.release();
    }

    @Test
    void aReleasedMessageIsPrintedAsSuch() {
        ZMTPMessage message = ZMTPMessage.fromUTF8("a");
        message.release();

        assertThat(message).hasToString("ZMTPMessage{released}");
    }

    @Test
    void aReleasedFrameIsPrintedAsSuch() {
        ByteBuf released = ALLOC.heapBuffer().writeByte('a');
        ZMTPMessage message = ZMTPMessage.from(released, Hex.buffer("62"));
        released.release();

        assertThat(message).hasToString("ZMTPMessage{[released,\"b\"]}");
        message.release();
    }

    // Reading and writing

    @ParameterizedTest
    @EnumSource
    void writeLeavesTheMessageAsItIs(ZMTPVersion version) {
        ZMTPMessage message = ZMTPMessage.from(Hex.buffer("aa 61").skipBytes(1), Hex.buffer("62*300"));
        ByteBuf out = message.write(ALLOC, version);

        assertThat(message.frame(0).readerIndex()).isOne();
        assertThat(message.frame(1).readableBytes()).isEqualTo(300);
        assertThat(message.refCnt()).isOne();
        assertThat(out.capacity()).isEqualTo(out.readableBytes());
        message.release();
        out.release();
    }

    @Test
    void writeAppends() {
        ByteBuf out = Hex.buffer("aa");
        ZMTPMessage message = ZMTPMessage.fromUTF8("a", "b");
        message.write(out, ZMTPVersion.ZMTP31);

        assertThat(Hex.dump(out)).isEqualTo(Hex.of("aa 01 01 61 00 01 62"));
        message.release();
    }

    @Test
    void readReturnsOneMessageWhoseFramesAreSlices() {
        ByteBuf in = Hex.buffer("01 01 61 00 02 62 63 00 01 64");
        ZMTPMessage message = ZMTPMessage.read(in, ZMTPVersion.ZMTP30);

        assertThat(frames(message)).containsExactly("a", "bc");
        assertThat(in.readerIndex()).isEqualTo(7);
        in.setByte(2, 'z');
        assertThat(frames(message)).containsExactly("z", "bc");
        assertThat(in.release()).isFalse();
        assertThat(frames(message)).containsExactly("z", "bc");
        message.release();
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "ZMTP31, 02 7f ff*7 61",
        "ZMTP31, 02 00*4 80 00 00 00 61",
        "ZMTP31, 02 00*3 01 00*4",
        "ZMTP31, 00",
        "ZMTP31, 02 00*7",
        "ZMTP31, 00 02 61",
        "ZMTP10, ff 00*3 01 00*3 01 00",
        "ZMTP20, 01 00"
    })
    void anIncompleteMessageIsNotRead(ZMTPVersion version, String bytes) {
        ByteBuf in = Hex.buffer("aa " + bytes);
        in.skipBytes(1);

        assertThat(ZMTPMessage.read(in, version)).isNull();
        assertThat(in.readerIndex()).isOne();
        in.release();
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "ZMTP31, 04 05 04 50 4f 4e 47, 'frame flags: 0x4 (expected: a message frame, no command)'",
        "ZMTP30, 01 01 61 04 00,       'frame flags: 0x4 (expected: a message frame, no command)'",
        "ZMTP20, 04 00,                'frame flags: 0x4 (expected: reserved bits 0)'",
        "ZMTP31, 05 00,                'frame flags: 0x5 (expected: no MORE on a command)'",
        "ZMTP31, 01 01 61 02 ff*8,     'frame length: 18446744073709551615 (expected: <= 9223372036854775807)'",
        "ZMTP10, 01 01 00,             'frame length: 0 (expected: >= 1, it counts the flags byte)'"
    })
    void bytesThatAreNotAMessageAreRefusedAndNotMoved(ZMTPVersion version, String bytes, String message) {
        ByteBuf in = Hex.buffer(bytes);

        assertThatThrownBy(() -> ZMTPMessage.read(in, version))
                .isInstanceOf(ZMTPException.class)
                .hasMessage(message);
        assertThat(in.readerIndex()).isZero();
        assertThat(in.release()).isTrue();
    }

    // Copied frames, whose buffers are reused

    @Test
    void aReusedBufferKeepsNothingOfItsLastUse() {
        ZMTPMessage.Builder builder = new ZMTPMessage.Builder();
        ByteBuf in = Hex.buffer("61*40 62*30 63*50");
        ZMTPMessage before = builder.copy(in, 40).build();
        before.frame(0).skipBytes(7).discardReadBytes().skipBytes(3);
        before.frame(0).writerIndex(20).markReaderIndex().markWriterIndex().capacity(5);
        before.release();

        ZMTPMessage after = builder.copy(in, 30).build();
        assertThat(frames(after)).containsExactly("b".repeat(30));
        assertThat(after.frame(0).skipBytes(10).resetReaderIndex().readerIndex())
                .isZero();
        assertThat(after.frame(0).resetWriterIndex().writerIndex()).isZero();
        after.release();
        in.release();
    }

    @Test
    void aBuilderBeginsAnotherMessageWhileItsLastOneIsInUse() {
        ZMTPMessage.Builder builder = new ZMTPMessage.Builder();
        ByteBuf in = Hex.buffer("61 62 63");
        ZMTPMessage first = builder.copy(in, 1).build();
        ZMTPMessage second = builder.copy(in, 1).build();

        assertThat(frames(first)).containsExactly("a");
        assertThat(frames(second)).containsExactly("b");
        first.release();
        ZMTPMessage third = builder.copy(in, 1).build();
        assertThat(third).isSameAs(first);
        assertThat(frames(third)).containsExactly("c");
        assertThat(frames(second)).containsExactly("b");
        second.release();
        third.release();
        in.release();
    }

    @Test
    void aRetainedCopyIsNotReused() {
        ZMTPMessage.Builder builder = new ZMTPMessage.Builder();
        ByteBuf in = Hex.buffer("61*4 62*4 63*4 64*4 65*4");
        List<ByteBuf> kept = new ArrayList<>();
        for (UnaryOperator<ByteBuf> keep : List.<UnaryOperator<ByteBuf>>of(
                ByteBuf::retain,
                ByteBuf::retainedSlice,
                ByteBuf::retainedDuplicate,
                frame -> frame.retain().asReadOnly())) {
            ZMTPMessage message = builder.copy(in, 4).build();
            kept.add(keep.apply(message.frame(0)));
            message.release();
        }
        builder.copy(in, 4).build().release();

        assertThat(kept.stream().map(Hex::dump)).containsExactly("61616161", "62626262", "63636363", "64646464");
        assertThat(kept).allMatch(frame -> frame.refCnt() == 0);
        in.release();
    }

    @Test
    void copiedFramesAreNotCountedByAnAllocator() {
        ByteBuf in = Hex.buffer("61*4");
        long before = UnpooledByteBufAllocator.DEFAULT.metric().usedHeapMemory();
        new ZMTPMessage.Builder().copy(in, 4).build().release();

        assertThat(UnpooledByteBufAllocator.DEFAULT.metric().usedHeapMemory()).isEqualTo(before);
        in.release();
    }

    @Test
    @Tag("netty-4.2-only")
    void aLeakedMessageOfCopiedFramesIsReported() {
        ByteBuf in = Hex.buffer("61*4");
        ZMTPMessage message = new ZMTPMessage.Builder().copy(in, 4).build();
        in.release();

        assertThatThrownBy(LeakPresenceDetector::check).isInstanceOf(IllegalStateException.class);
        assertThat(message.refCnt()).isOne(); // and stays so: the detector has forgotten it
    }

    @Test
    void everyPublicMethodCanBeCalledByReflection() throws ReflectiveOperationException {
        ZMTPMessage message = ZMTPMessage.fromUTF8("a");
        for (Method method : ZMTPMessage.class.getMethods()) {
            assertThat(Modifier.isPublic(method.getDeclaringClass().getModifiers()))
                    .as("%s", method)
                    .isTrue();
        }
        assertThat(ZMTPMessage.class.getMethod("size").invoke(message)).isEqualTo(1);
        message.release();
    }
}
