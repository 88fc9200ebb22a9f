package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.HeapMeter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The frames of a message that is not complete can be made to take little memory, and are the same afterwards. */
class CompactMessageTest {

    private static final int[] LENGTHS = {0, 1, 2, 31, 32, 33, 500, 1_023, 1_024, 1_025, 5_000};

    private final ZMTPMessage.Builder builder = new ZMTPMessage.Builder();

    private void copy(int frames, int length) {
        ByteBuf in = Unpooled.wrappedBuffer(new byte[frames * length]);
        for (int i = 0; i < frames; i++) {
            builder.copy(in, length);
        }
    }

    private static ByteBuf root(ByteBuf frame) {
        return frame.unwrap() == null ? frame : root(frame.unwrap());
    }

    private static IntStream seeds() {
        return IntStream.range(0, 100);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void aMessageIsTheSameHoweverOftenItWasCompacted(int seed) {
        Random random = new Random(seed);
        for (int message = 0; message < 3; message++) {
            List<String> expected = new ArrayList<>();
            for (int i = random.nextInt(60); i >= 0; i--) {
                byte[] bytes = new byte[LENGTHS[random.nextInt(LENGTHS.length)]];
                random.nextBytes(bytes);
                expected.add(ByteBufUtil.hexDump(bytes));
                ByteBuf frame = ByteBufAllocator.DEFAULT.buffer().writeBytes(bytes);
                if (random.nextBoolean()) {
                    builder.add(frame);
                } else {
                    builder.copy(frame, bytes.length);
                    frame.release();
                }
                if (random.nextInt(5) == 0) {
                    builder.compact();
                }
                assertThat(builder.size()).isEqualTo(expected.size());
            }
            ZMTPMessage built = builder.build();
            assertThat(built).map(ByteBufUtil::hexDump).isEqualTo(expected);
            built.release();
        }
    }

    @Test
    void aFrameIsReleasedWhenItsBytesWereCopied() {
        copy(8, 1);
        ByteBuf frame = ByteBufAllocator.DEFAULT.buffer().writeByte(1);
        builder.add(frame);
        builder.compact();
        assertThat(frame.refCnt()).isZero();
        builder.clear();
    }

    @Test
    void aLargeFrameIsNotCopied() {
        copy(8, 1);
        ByteBuf frame = ByteBufAllocator.DEFAULT.buffer().writeZero(1_025);
        builder.add(frame);
        builder.compact();
        assertThat(frame.refCnt()).isEqualTo(1);
        ZMTPMessage message = builder.build();
        assertThat(message.frame(8)).isSameAs(frame);
        message.release();
    }

    @Test
    void aLargeFrameCountsOnceIfItWasCopiedAndWithTheRestOfItsBufferIfNot() {
        ByteBuf in = ByteBufAllocator.DEFAULT.buffer(10_000, 10_000).writeZero(10_000);
        builder.copy(in, 4_000);
        builder.compact();
        long copied = builder.memory();
        assertThat(copied).isBetween(4_000L, 4_500L);
        builder.add(in.readRetainedSlice(6_000));
        builder.compact();
        assertThat(builder.memory() - copied).isBetween(10_000L, 12_500L);
        builder.clear();
        in.release();
    }

    @Test
    void framesThatAreDroppedLeaveNothing() {
        copy(20, 1);
        builder.compact();
        builder.clear();
        assertThat(builder.size()).isZero();
        builder.compact();
        assertThat(builder.memory()).isZero();
        copy(1, 1);
        ZMTPMessage message = builder.build();
        assertThat(message.size()).isEqualTo(1);
        message.release();
    }

    @Test
    void framesThatAreDroppedAreNotThoseOfTheNextMessage() {
        copy(20, 2);
        builder.compact();
        builder.clear();
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            builder.copy(Unpooled.wrappedBuffer(new byte[] {1, (byte) i}), 2);
            expected.add("01%02x".formatted(i));
        }
        builder.compact();
        ZMTPMessage next = builder.build();
        assertThat(next).map(ByteBufUtil::hexDump).isEqualTo(expected);
        next.release();
    }

    @Test
    void aMessageTakesAsLittleAfterOneOfManyFrames() {
        copy(1, 1);
        builder.compact();
        long first = builder.memory();
        copy(999, 1);
        builder.build().release();
        copy(1, 1);
        builder.compact();
        assertThat(builder.memory()).isEqualTo(first);
        builder.clear();
    }

    /** As said of all small frames: one that is kept keeps up to 8 KiB of its message. */
    @Test
    void aFrameThatIsKeptKeepsNoMoreThan8KiB() {
        copy(1_000, 1_000);
        builder.compact();
        ZMTPMessage message = builder.build();
        assertThat(message)
                .allSatisfy(frame -> assertThat(root(frame).capacity()).isLessThanOrEqualTo(8 << 10));
        ByteBuf kept = message.frame(500).retain();
        ByteBuf other = root(message.frame(100));
        message.release();
        assertThat(other.refCnt()).isZero();
        assertThat(kept.readableBytes()).isEqualTo(1_000);
        kept.release();
        assertThat(root(kept).refCnt()).isZero();
    }

    @Test
    void aThousandFramesOfOneByteTakeNoMoreThanTenBytesEach() {
        copy(1_023, 1);
        builder.compact();
        assertThat(builder.memory()).isBetween(1_023L * 3, 1_023L * 10);
        builder.clear();
    }

    @Tag("heap")
    @ParameterizedTest
    @CsvSource({"1023, 1", "1023, 9", "300, 100", "64, 1000", "8, 1", "20, 0"})
    void memoryIsAboutWhatTheHeapHolds(int frames, int length) {
        int messages = 5_000_000 / (frames * (length + 10) + 1_000);
        long[] counted = new long[1];
        long measured = HeapMeter.measure(() -> {
            counted[0] = 0;
            ZMTPMessage.Builder[] builders = new ZMTPMessage.Builder[messages];
            ByteBuf in = Unpooled.wrappedBuffer(new byte[frames * length]);
            for (int i = 0; i < messages; i++) {
                builders[i] = new ZMTPMessage.Builder();
                in.readerIndex(0);
                for (int j = 0; j < frames; j++) {
                    builders[i].copy(in, length);
                }
                builders[i].compact();
                counted[0] += builders[i].memory();
            }
            return builders;
        });
        // A builder and its message, which every connection has, are not counted.
        assertThat((measured - messages * 250L) / (double) counted[0]).isBetween(0.6, 1.1);
    }
}
