package dev.zmtp.wire;

import static dev.zmtp.ZMTPVersion.ZMTP10;
import static dev.zmtp.ZMTPVersion.ZMTP20;
import static dev.zmtp.ZMTPVersion.ZMTP30;
import static dev.zmtp.ZMTPVersion.ZMTP31;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a {@link FrameReader} reports about a frame, what it retains between reads, and how much memory that takes. */
class FrameReaderTest {

    private static final ByteBufAllocator ALLOC = ByteBufAllocator.DEFAULT;

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "ZMTP10, 03 00,                 0,    false, false, false, 2",
        "ZMTP10, 02 81,                 129,  true,  false, false, 1",
        "ZMTP10, ff 00*7 02 7f,         127,  true,  false, true,  1",
        "ZMTP20, 01 05,                 1,    true,  false, false, 5",
        "ZMTP30, 06 00*6 01 00,         6,    false, true,  true,  256",
        "ZMTP31, 04 07,                 4,    false, true,  false, 7",
        "ZMTP31, 03 7f ff*7,            3,    true,  false, true,  9223372036854775807"
    })
    void aHeaderHasTheKindLengthAndMoreFlagOfAFrame(
            ZMTPVersion version, String bytes, int raw, boolean more, boolean command, boolean isLong, long length) {
        FrameReader reader = new FrameReader(version, reserved -> {});
        ByteBuf in = Hex.buffer(bytes);

        assertThat(reader.readHeader(in)).isTrue();
        assertThat(in.isReadable()).isFalse();
        assertThat(reader.rawFlags()).isEqualTo(raw);
        assertThat(reader.hasMore()).isEqualTo(more);
        assertThat(reader.isCommand()).isEqualTo(command);
        assertThat(reader.flags()).isEqualTo((more ? ZMTPFraming.MORE : 0) | (command ? ZMTPFraming.COMMAND : 0));
        assertThat(reader.hasLongHeader()).isEqualTo(isLong);
        assertThat(reader.length()).isEqualTo(length);
        in.release();
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "ZMTP10, 00,                    'frame length: 0 (expected: >= 1, it counts the flags byte)'",
        "ZMTP10, ff 00*8 00,            'frame length: 0 (expected: >= 1, it counts the flags byte)'",
        "ZMTP10, ff 80 00*7 00,         'frame length: 9223372036854775808 (expected: <= 9223372036854775807)'",
        "ZMTP20, 04 00,                 'frame flags: 0x4 (expected: reserved bits 0)'",
        "ZMTP31, f8 02,                 'frame flags: 0xf8 (expected: reserved bits 0)'",
        "ZMTP31, 05 00,                 'frame flags: 0x5 (expected: no MORE on a command)'",
        "ZMTP31, 02 ff*8,               'frame length: 18446744073709551615 (expected: <= 9223372036854775807)'"
    })
    void anIllegalHeaderIsRefusedHoweverItIsSplit(ZMTPVersion version, String bytes, String message) {
        int length = Hex.bytes(bytes).length;
        for (int at = 0; at < length; at++) {
            FrameReader reader = new FrameReader(version, reserved -> {});
            ByteBuf in = Hex.buffer(bytes);
            ByteBuf first = in.readSlice(at);

            assertThat(reader.readHeader(first)).isFalse();
            assertThatThrownBy(() -> reader.readHeader(in))
                    .isInstanceOf(ZMTPException.class)
                    .hasMessage(message);
            reader.close();
            in.release();
        }
    }

    @Test
    void aHeaderIsReadOnceForItsBody() {
        FrameReader reader = new FrameReader(ZMTP31, reserved -> {});
        ByteBuf in = Hex.buffer("00 01 61 00 02 62 63");
        assertThat(reader.readHeader(in)).isTrue();
        assertThat(reader.readHeader(in)).isTrue();

        assertThat(in.readerIndex()).isEqualTo(2);
        assertThat(reader.length()).isOne();
        reader.readBody(in, ALLOC).release();
        assertThat(reader.readHeader(in)).isTrue();
        assertThat(reader.length()).isEqualTo(2);
        in.release();
    }

    @Test
    void aCompleteBodyIsASliceOfTheInput() {
        FrameReader reader = new FrameReader(ZMTP20, reserved -> {});
        ByteBuf in = Hex.buffer("00 02 61 62 aa");
        reader.readHeader(in);
        ByteBuf body = reader.readBody(in, ALLOC);

        in.setByte(2, 'z');
        assertThat(Hex.dump(body)).isEqualTo("7a62");
        assertThat(in.readableBytes()).isOne();
        in.release();
    }

    @Test
    void onlyTheBodyRetainsItsInput() {
        FrameReader reader = new FrameReader(ZMTP20, reserved -> {});
        ByteBuf in = Hex.buffer("00 02 61 62");
        reader.readHeader(in);
        ByteBuf body = reader.readBody(in, ALLOC);

        assertThat(in.release()).isFalse();
        assertThat(ByteBufUtil.hexDump(body)).isEqualTo("6162");
        assertThat(body.release()).isTrue();
    }

    @Test
    void anEmptyBodyNeedsNoInput() {
        FrameReader reader = new FrameReader(ZMTP20, reserved -> {});
        ByteBuf in = Hex.buffer("00 00");
        reader.readHeader(in);

        assertThat(reader.readBody(in, ALLOC).isReadable()).isFalse();
        assertThat(reader.readHeader(in)).isFalse();
        in.release();
    }

    @Test
    void noBufferOfTheCallerIsRetainedForASplitFrame() {
        FrameReader reader = new FrameReader(ZMTP31, reserved -> {});
        ByteBuf header = Hex.buffer("02 00*4");
        ByteBuf start = Hex.buffer("00*3 03 61");
        assertThat(reader.readHeader(header)).isFalse();
        assertThat(reader.readHeader(start)).isTrue();
        assertThat(reader.readBody(start, ALLOC)).isNull();

        assertThat(header.release()).isTrue();
        assertThat(start.release()).isTrue();
        reader.close();
    }

    @Test
    void aCallerMayTakeTheBytesOfABodyItself() {
        FrameReader reader = new FrameReader(ZMTP31, reserved -> {});
        ByteBuf in = Hex.buffer("00 02 61 62 01 03");
        reader.readHeader(in);
        assertThat(reader.isBodyIn(in)).isTrue();
        assertThat(reader.isInBody()).isTrue();
        in.skipBytes(reader.takeBody());

        assertThat(reader.isInBody()).isFalse();
        assertThat(reader.readHeader(in)).isTrue();
        assertThat(reader.length()).isEqualTo(3);
        assertThat(reader.hasMore()).isTrue();
        in.release();
    }

    @Test
    void aBodyMayBeTakenInPartsAsItArrives() {
        FrameReader reader = new FrameReader(ZMTP31, reserved -> {});
        ByteBuf first = Hex.buffer("00 05 61 62");
        ByteBuf second = Hex.buffer("63 64 65 00 00");
        reader.readHeader(first);
        assertThat(reader.isBodyIn(first)).isFalse();
        reader.beginParts();

        assertThat(reader.takePart(first)).isEqualTo(2);
        assertThat(reader.isInBody()).isTrue();
        assertThat(reader.isBodyIn(second)).as("a body that was begun in parts").isFalse();
        assertThat(reader.takePart(second)).isEqualTo(3);
        assertThat(reader.isInBody()).isFalse();

        second.skipBytes(3);
        assertThat(reader.readHeader(second)).isTrue();
        assertThat(reader.isBodyIn(second)).isTrue();
        assertThat(reader.takeBody()).isZero();
        first.release();
        second.release();
    }

    @Test
    void closeReleasesHalfABody() {
        FrameReader reader = new FrameReader(ZMTP30, reserved -> {});
        ByteBuf in = Hex.buffer("02 00*6 10 00 61*5");
        reader.readHeader(in);
        assertThat(reader.readBody(in, ALLOC)).isNull();
        in.release();

        reader.close();
        reader.close(); // and the leak check sees nothing
    }

    // Memory: what is allocated, as the allocator counts it

    private static final int ANNOUNCED = 64 << 20;

    @ParameterizedTest(name = "{0} bytes in a read")
    @ValueSource(ints = {1, 7, 1000, 4096, 8191})
    void aPeerThatAnnouncesMuchAndSendsLittleCostsLittle(int chunk) {
        UnpooledByteBufAllocator counted = new UnpooledByteBufAllocator(false);
        FrameReader reader = new FrameReader(ZMTP31, reserved -> {});
        ByteBuf header = Hex.buffer("02 00*4 04 00 00 00");
        reader.readHeader(header);
        assertThat(reader.length()).isEqualTo(ANNOUNCED);
        assertThat(reader.readBody(header, counted)).isNull();
        assertThat(used(counted)).isZero();
        header.release();

        ByteBuf bytes = ALLOC.buffer(chunk).writeZero(chunk);
        for (int read = 1; read <= 100; read++) {
            assertThat(reader.readBody(bytes.duplicate(), counted)).isNull();
            assertThat(used(counted))
                    .as("after %d bytes", read * chunk)
                    .isBetween((long) read * chunk, 2L * read * chunk + 4096);
        }
        bytes.release();
        reader.close();
        assertThat(used(counted)).isZero();
    }

    @Test
    void noMoreIsReadThanTheBodyNeeds() {
        UnpooledByteBufAllocator counted = new UnpooledByteBufAllocator(false);
        FrameReader reader = new FrameReader(ZMTP31, reserved -> {});
        ByteBuf in = ALLOC.buffer().writeByte(2).writeLong(10_000).writeZero(9_999);
        reader.readHeader(in);
        assertThat(reader.readBody(in, counted)).isNull();

        assertThat(used(counted)).isEqualTo(10_000);
        ByteBuf body = reader.readBody(in.writeByte(1), counted);
        assertThat(body.readableBytes()).isEqualTo(10_000);
        assertThat(body.getByte(9_999)).isEqualTo((byte) 1);
        body.release();
        in.release();
        assertThat(used(counted)).isZero();
    }

    @ParameterizedTest(name = "of {0} bytes: {1}")
    @CsvSource({"4096, 4096", "4097, 2"})
    void aSmallBodyIsAllocatedWithItsFirstByte(int length, int taken) {
        UnpooledByteBufAllocator counted = new UnpooledByteBufAllocator(false);
        FrameReader reader = new FrameReader(ZMTP31, reserved -> {});
        ByteBuf in = ALLOC.buffer().writeByte(2).writeLong(length).writeByte(0);
        reader.readHeader(in);
        assertThat(reader.readBody(in, counted)).isNull();
        assertThat(used(counted)).isEqualTo(taken);
        in.release();
        reader.close();
    }

    @Test
    void largeReadsAreRetainedUntilHalfTheBodyHasArrived() {
        UnpooledByteBufAllocator counted = new UnpooledByteBufAllocator(false);
        FrameReader reader = readerBehind(Hex.buffer("02 00*5 04 00 00")); // 256 KiB
        ByteBuf[] reads = new ByteBuf[4];
        for (int i = 0; i < reads.length; i++) {
            reads[i] = ALLOC.buffer(1 << 16, 1 << 16)
                    .setZero(0, 1 << 16)
                    .setByte(0, i)
                    .writerIndex(1 << 16);
        }

        assertThat(reader.readBody(reads[0], counted)).isNull();
        assertThat(reads[0].refCnt()).isEqualTo(2);
        assertThat(used(counted)).isZero();

        assertThat(reader.readBody(reads[1], counted)).isNull(); // half of it
        assertThat(reads[0].refCnt()).isOne();
        assertThat(reads[1].refCnt()).isOne();
        assertThat(used(counted)).isEqualTo(1 << 18);

        assertThat(reader.readBody(reads[2], counted)).isNull();
        ByteBuf body = reader.readBody(reads[3], counted);
        assertThat(used(counted)).isEqualTo(1 << 18);
        for (int i = 0; i < reads.length; i++) {
            assertThat(body.getByte(i << 16)).isEqualTo((byte) i);
            assertThat(reads[i].release()).isTrue();
        }
        assertThat(body.release()).isTrue();
    }

    @ParameterizedTest(name = "{0} bytes in a buffer of {1}")
    @CsvSource({"8191, 8191", "8192, 16386", "60000, 131072"})
    void smallReadsAndSmallPartsOfTheirBuffersAreCopied(int bytes, int capacity) {
        UnpooledByteBufAllocator counted = new UnpooledByteBufAllocator(false);
        FrameReader reader = readerBehind(Hex.buffer("02 00*4 04 00 00 00"));
        ByteBuf read = ALLOC.buffer(capacity, capacity).writeZero(bytes);

        assertThat(reader.readBody(read, counted)).isNull();

        assertThat(used(counted)).isBetween((long) bytes, 2L * bytes);
        assertThat(read.release()).isTrue();
        reader.close();
        assertThat(used(counted)).isZero();
    }

    @Test
    void smallReadsBetweenLargeOnesTakeAtMostTwiceWhatHasArrived() {
        UnpooledByteBufAllocator counted = new UnpooledByteBufAllocator(false);
        FrameReader reader = readerBehind(Hex.buffer("02 00*4 04 00 00 00"));
        List<ByteBuf> reads = new ArrayList<>();
        long arrived = 0;
        long kept = 0;
        for (int i = 0; i < 400; i++) {
            ByteBuf read = i % 2 == 0
                    ? ALLOC.buffer(16384, 16384).writeZero(8192)
                    : ALLOC.buffer(1, 1).writeZero(1);
            arrived += read.readableBytes();
            assertThat(reader.readBody(read, counted)).isNull();
            kept += read.refCnt() > 1 ? read.capacity() : 0;
            reads.add(read);
            assertThat(kept + used(counted)).as("after %d bytes", arrived).isLessThanOrEqualTo(2 * arrived);
        }
        assertThat(kept).isPositive();
        reader.close();
        assertThat(reads).allMatch(ByteBuf::release);
    }

    @Test
    void bytesOfLargeAndSmallReadsStayInOrder() {
        int[] sizes = {1, 8192, 1, 1, 9000, 100, 70_000, 3, 8192, 8192, 5};
        int whole = 300_000;
        FrameReader reader = readerBehind(ALLOC.buffer().writeByte(2).writeLong(whole));
        int sent = 0;
        ByteBuf body = null;
        for (int i = 0; body == null; i++) {
            int size = Math.min(whole - sent, sizes[i % sizes.length]);
            ByteBuf read = ALLOC.buffer(size, size);
            while (read.isWritable()) {
                read.writeByte((sent++ * 31) >>> 3);
            }
            body = reader.readBody(read, ALLOC);
            read.release();
        }
        for (int i = 0; i < whole; i++) {
            if (body.getByte(i) != (byte) ((i * 31) >>> 3)) {
                assertThat(body.getByte(i)).as("byte %d", i).isEqualTo((byte) ((i * 31) >>> 3));
            }
        }
        body.release();
    }

    @Test
    void partsOfBuffersOfUnknownCapacityAreCopied() {
        FrameReader reader = readerBehind(Hex.buffer("02 00*4 04 00 00 00"));
        ByteBuf part = ALLOC.buffer(20_000).writeZero(20_000);
        ByteBuf read = ALLOC.compositeBuffer().addComponent(true, part);

        assertThat(reader.readBody(read, ALLOC)).isNull();

        assertThat(read.release()).isTrue();
        reader.close();
    }

    @Test
    void closeReleasesRetainedReads() {
        FrameReader reader = readerBehind(Hex.buffer("02 00*4 04 00 00 00"));
        ByteBuf read = ALLOC.buffer(1 << 16, 1 << 16).writeZero(1 << 16);
        assertThat(reader.readBody(read.retain(), ALLOC)).isNull();
        assertThat(read.refCnt()).isEqualTo(3);

        reader.close();

        assertThat(read.refCnt()).isEqualTo(2);
        read.release(2);
    }

    @Test
    void aTrickledBodyIsCopiedFewTimes() {
        UnpooledByteBufAllocator counted = new UnpooledByteBufAllocator(false);
        FrameReader reader = readerBehind(Hex.buffer("02 00*5 10 00 00"));

        ByteBuf oneByte = Unpooled.wrappedBuffer(new byte[1]);
        int growths = 0;
        long before = 0;
        ByteBuf body = null;
        while (body == null) {
            body = reader.readBody(oneByte.duplicate(), counted);
            long now = used(counted);
            growths += now == before ? 0 : 1;
            before = now;
        }
        assertThat(body.readableBytes()).isEqualTo(1 << 20);
        // One for each doubling up to 64 KiB, one for each 64 KiB of the first half, and the whole.
        assertThat(growths).isLessThanOrEqualTo(17 + 8 + 1);
        body.release();
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void aSplitFrameTakesAtMostTwiceWhatHasArrived(long seed) {
        Random random = new Random(seed);
        for (int whole : new int[] {4097, 5000, 65_535, 65_536, 100_003}) {
            UnpooledByteBufAllocator counted = new UnpooledByteBufAllocator(false);
            FrameReader reader = new FrameReader(ZMTP31, reserved -> {});
            ByteBuf in = ALLOC.buffer().writeByte(2).writeLong(whole);
            for (int i = 0; i < whole; i++) {
                in.writeByte(i);
            }
            in.writeBytes(Hex.bytes("00 01 7a"));
            int most = 1 << random.nextInt(18);
            ByteBuf body = null;
            while (body == null) {
                int arrived = in.readerIndex();
                ByteBuf chunk = in.readSlice(Math.min(in.readableBytes(), 1 + random.nextInt(most)));
                if (reader.readHeader(chunk)) {
                    body = reader.readBody(chunk, counted);
                }
                arrived += chunk.readerIndex();
                in.readerIndex(arrived);
                assertThat(used(counted)).isLessThanOrEqualTo(2L * arrived);
            }
            assertThat(body.readableBytes()).isEqualTo(whole);
            assertThat(used(counted)).isIn(0L, (long) whole); // a slice, or a buffer that fits
            for (int i = 0; i < whole; i++) {
                assertThat(body.getByte(i)).isEqualTo((byte) i);
            }
            assertThat(reader.readHeader(in)).isTrue();
            assertThat(reader.length()).isOne();
            body.release();
            in.release();
            reader.close();
            assertThat(used(counted)).isZero();
        }
    }

    /** A reader that has taken {@code header}, which is released. */
    private static FrameReader readerBehind(ByteBuf header) {
        FrameReader reader = new FrameReader(ZMTP31, reserved -> {});
        reader.readHeader(header);
        header.release();
        return reader;
    }

    private static long used(UnpooledByteBufAllocator counted) {
        return counted.metric().usedHeapMemory() + counted.metric().usedDirectMemory();
    }

    @Test
    void aHeaderOfTheLongest10FormMayBeSplitBeforeItsFlags() {
        FrameReader reader = new FrameReader(ZMTP10, reserved -> {});
        ByteBuf in = Hex.buffer("ff 00*7 03");
        assertThat(reader.readHeader(in)).isFalse();
        in.release();

        ByteBuf rest = Hex.buffer("01 79 6f");
        assertThat(reader.readHeader(rest)).isTrue();
        assertThat(reader.hasMore()).isTrue();
        assertThat(Hex.dump(reader.readBody(rest, ALLOC))).isEqualTo("796f");
        rest.release();
    }
}
