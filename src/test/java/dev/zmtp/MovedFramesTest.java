package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.IllegalReferenceCountException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Frames that are put before a message, or taken away from it, without another message. */
class MovedFramesTest {

    private static ByteBuf frame(String text) {
        return ByteBufAllocator.DEFAULT.buffer().writeBytes(text.getBytes(StandardCharsets.UTF_8));
    }

    private static List<String> texts(ZMTPMessage message) {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < message.size(); i++) {
            texts.add(message.frameUTF8(i));
        }
        return texts;
    }

    @Test
    void aFrameIsReadAsUtf8() {
        ZMTPMessage message = ZMTPMessage.fromUTF8("gr\u00fc\u00df", "");
        assertThat(message.frameUTF8(0)).isEqualTo("gr\u00fc\u00df");
        assertThat(message.frameUTF8(1)).isEmpty();
        message.release();
    }

    @Test
    void aMessageThatNobodyElseHasIsChangedAndReturned() {
        ZMTPMessage message = ZMTPMessage.fromUTF8("data");
        ZMTPMessage longer = message.prepend(frame("name"), Unpooled.EMPTY_BUFFER);
        assertThat(longer).isSameAs(message);
        assertThat(texts(longer)).containsExactly("name", "", "data");
        ZMTPMessage data = longer.removeFirst(2);
        assertThat(data).isSameAs(message);
        assertThat(texts(data)).containsExactly("data");
        data.release();
    }

    @Test
    void theOtherReferencesOfARetainedMessageSeeNoChange() {
        ZMTPMessage message = ZMTPMessage.fromUTF8("a", "b").retain(2);
        ZMTPMessage longer = message.prepend(frame("name"));
        ZMTPMessage shorter = message.removeFirst(1);
        assertThat(texts(longer)).containsExactly("name", "a", "b");
        assertThat(texts(shorter)).containsExactly("b");
        assertThat(texts(message)).containsExactly("a", "b");
        assertThat(message.refCnt()).isEqualTo(1);
        longer.release();
        shorter.release();
        message.release();
    }

    @Test
    void aFrameThatIsTakenAwayIsReleased() {
        ByteBuf first = frame("first");
        ZMTPMessage message = ZMTPMessage.from(first, frame("second")).removeFirst(1);
        assertThat(first.refCnt()).isZero();
        assertThat(message.removeFirst(1).size()).isZero();
        message.release();
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 2})
    void moreFramesThanThereAreAreNotTakenAway(int count) {
        ZMTPMessage message = ZMTPMessage.fromUTF8("only");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> message.removeFirst(count))
                .withMessage("count: " + count + " (expected: 0 to 1)");
        assertThat(texts(message)).containsExactly("only");
        message.release();
    }

    @Test
    void whatIsPutBeforeAReleasedMessageIsReleased() {
        ZMTPMessage message = ZMTPMessage.fromUTF8("x");
        message.release();
        ByteBuf name = frame("name");
        assertThatThrownBy(() -> message.prepend(name)).isInstanceOf(IllegalReferenceCountException.class);
        assertThatThrownBy(() -> message.removeFirst(0)).isInstanceOf(IllegalReferenceCountException.class);
        assertThat(name.refCnt()).isZero();
    }

    @Test
    void nothingIsKeptIfOneOfTheFramesIsNull() {
        ByteBuf name = frame("name");
        ByteBuf data = frame("data");
        ZMTPMessage message = ZMTPMessage.from(data);
        assertThatThrownBy(() -> message.prepend(name, null)).isInstanceOf(NullPointerException.class);
        assertThat(name.refCnt()).isZero();
        assertThat(data.refCnt()).isZero();
    }

    /** Otherwise the peers would get the frames of before. */
    @Test
    void whatWasEncodedOnceIsForgotten() {
        ZMTPMessage message = ZMTPMessage.fromUTF8("data").encodeOnce();
        message.write(ZMTPVersion.ZMTP30).release();

        ZMTPMessage longer = message.prepend(frame("name"));

        assertThat(longer.isEncodedOnce()).isFalse();
        ByteBuf written = longer.write(ZMTPVersion.ZMTP30);
        ZMTPMessage read = ZMTPMessage.read(written, ZMTPVersion.ZMTP30);
        assertThat(texts(read)).containsExactly("name", "data");
        read.release();
        written.release();
        longer.release();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 8, 9})
    void aFrameThatIsRetainedIsNotReusedWhereverItWasMoved(int before) {
        ZMTPMessage.Builder builder = new ZMTPMessage.Builder();
        for (int i = 0; i < 8; i++) {
            copy(builder, "small" + i);
        }
        ZMTPMessage message = builder.build();
        message = message.prepend(
                IntStream.range(0, before).mapToObj(i -> frame("name")).toArray(ByteBuf[]::new));
        List<ByteBuf> retained = new ArrayList<>();
        message.forEach(frame -> retained.add(frame.retain()));
        List<String> texts = texts(message);
        message.release();

        for (int i = 0; i < 8; i++) {
            copy(builder, "other" + i);
        }
        ZMTPMessage other = builder.build();

        assertThat(retained.stream().map(frame -> frame.toString(StandardCharsets.UTF_8)))
                .isEqualTo(texts);
        retained.forEach(ByteBuf::release);
        assertThat(texts(other)).startsWith("other0", "other1").endsWith("other7");
        other.release();
    }

    private static void copy(ZMTPMessage.Builder builder, String text) {
        ByteBuf frame = frame(text);
        builder.copy(frame, frame.readableBytes());
        frame.release();
    }

    /** Against a list, with frames that belong to the message and frames that do not, again and again. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void whateverIsMovedTheFramesAreThoseOfAList(long seed) {
        Random random = new Random(seed);
        ZMTPMessage.Builder builder = new ZMTPMessage.Builder();
        IdentityHashMap<ByteBuf, String> retained = new IdentityHashMap<>();
        for (int round = 0; round < 500; round++) {
            List<String> model = new ArrayList<>();
            for (int i = 0, n = random.nextInt(12); i < n; i++) {
                String text = "r" + round + "f" + i;
                if (random.nextBoolean()) {
                    copy(builder, text);
                } else {
                    builder.add(frame(text));
                }
                model.add(text);
            }
            ZMTPMessage message = builder.build();
            ZMTPMessage other = null;
            for (int step = 0; step < 6; step++) {
                if (random.nextInt(10) == 0 && other == null) {
                    other = message.retain();
                }
                if (random.nextBoolean()) {
                    int count = random.nextInt(model.size() + 1);
                    message = message.removeFirst(count);
                    model.subList(0, count).clear();
                } else {
                    ByteBuf[] first = new ByteBuf[random.nextInt(10)];
                    for (int i = first.length - 1; i >= 0; i--) {
                        first[i] = frame("s" + step + "p" + i);
                        model.add(0, "s" + step + "p" + i);
                    }
                    message = message.prepend(first);
                }
                assertThat(texts(message)).isEqualTo(model);
            }
            if (random.nextInt(4) == 0 && message.size() > 0) {
                int index = random.nextInt(message.size());
                ByteBuf frame = message.frame(index);
                if (!retained.containsKey(frame)) {
                    retained.put(frame.retain(), message.frameUTF8(index));
                }
            }
            message.release();
            if (other != null) {
                other.release();
            }
            retained.forEach((frame, text) ->
                    assertThat(frame.toString(StandardCharsets.UTF_8)).isEqualTo(text));
        }
        retained.keySet().forEach(ByteBuf::release);
    }
}
