package dev.zmtp.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class NumberedTest {

    private static final Numbered SAID = new Numbered(0x0102_0304_0506_0708L, 9, false);

    private static ZMTPMessage message(int... lengths) {
        return SAID.toMessage(new UnpooledByteBufAllocator(false), new Random(1), lengths);
    }

    private static List<ByteBuf> frames(ZMTPMessage message) {
        List<ByteBuf> frames = new ArrayList<>();
        message.forEach(frames::add);
        return frames;
    }

    private static void assertTorn(List<ByteBuf> frames, String why) {
        assertThatThrownBy(() -> Numbered.of(ZMTPMessage.from(frames)))
                .isInstanceOf(TornException.class)
                .hasMessageContaining(why);
    }

    @Test
    void aMessageSaysWhatItIs() throws TornException {
        assertThat(Numbered.of(message(0))).isEqualTo(SAID);
        assertThat(Numbered.of(message(3, 0, 5_000))).isEqualTo(SAID);
    }

    @Test
    void anEndIsMarkedAsSuch() throws TornException {
        Numbered end = new Numbered(1, 2, true);
        ZMTPMessage message = end.toMessage(new UnpooledByteBufAllocator(false), new Random(1));

        assertThat(Numbered.isEnd(message)).isTrue();
        assertThat(Numbered.of(message)).isEqualTo(end);
        assertThat(Numbered.isEnd(message(0))).isFalse();
    }

    @Test
    void aChangedByteIsNoticed() {
        for (int at : new int[] {1, 20, 28, 37}) { // kind, number, first byte of the body, last
            List<ByteBuf> frames = frames(message(10));
            frames.get(0).setByte(at, frames.get(0).getByte(at) ^ 1);

            assertTorn(frames, "checksum");
        }
    }

    @Test
    void aMissingFrameIsNoticed() {
        List<ByteBuf> frames = frames(message(10, 20, 0));
        frames.remove(2);

        assertTorn(frames, "2 frames (expected: 3)");
    }

    @Test
    void aFrameCutShortIsNoticed() {
        List<ByteBuf> frames = frames(message(10, 20));
        frames.set(1, frames.get(1).slice(0, 19));

        assertTorn(frames, "57 bytes (expected: 58)");
    }

    @Test
    void swappedFramesAreNoticed() {
        List<ByteBuf> frames = frames(message(10, 20, 20));
        Collections.swap(frames, 1, 2);

        assertTorn(frames, "checksum");
    }

    @Test
    void aByteThatMovedToThePreviousFrameIsNoticed() {
        List<ByteBuf> frames = frames(message(0, 20, 20));
        ByteBuf joined = Unpooled.wrappedBuffer(frames.get(1), frames.get(2));
        frames.set(1, joined.slice(0, 21));
        frames.set(2, joined.slice(21, 19));

        assertTorn(frames, "checksum");
    }

    @Test
    void aBodyOfAnotherMessageIsNoticed() {
        List<ByteBuf> frames = frames(message(0, 20));
        frames.set(
                1,
                frames(SAID.toMessage(new UnpooledByteBufAllocator(false), new Random(2), 0, 20))
                        .get(1));

        assertTorn(frames, "checksum");
    }

    @Test
    void aFrameWithoutAHeaderIsNoticed() {
        assertTorn(List.of(Unpooled.wrappedBuffer(new byte[27])), "first frame: 27 bytes");
        assertTorn(List.of(Unpooled.wrappedBuffer(new byte[28])), "first byte: 0");
    }
}
