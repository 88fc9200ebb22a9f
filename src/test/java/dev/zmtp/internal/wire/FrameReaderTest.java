package dev.zmtp.internal.wire;

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

    // Reads of the transport

    /** What a transport reads by itself. */
    private static final int USUAL = 1 << 16;

    private final UnpooledByteBufAllocator direct = new UnpooledByteBufAllocator(true);

    /** The bytes {@code from} to {@code to} of a stream in which they can be told apart. */
    private static byte[] numbered(int from, int to) {
        byte[] bytes = new byte[to - from];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (((from + i) * 31) >>> 3);
        }
        return bytes;
    }

    private static void assertNumbered(ByteBuf body, int length) {
        assertThat(body.readableBytes()).isEqualTo(length);
        assertThat(ByteBufUtil.getBytes(body)).isEqualTo(numbered(0, length));
    }

    /** The transport reads these bytes into {@code buffer}, and its reader gets them. */
    private ByteBuf readInto(FrameReader reader, ByteBuf buffer, byte... bytes) {
        buffer.writeBytes(bytes);
        try {
            return reader.readBody(buffer, direct);
        } finally {
            buffer.release();
        }
    }

    /** A reader in a body of {@code length} bytes, of which so many have arrived, in reads of at most {@link #USUAL}. */
    private FrameReader readerInBody(int length, int arrived) {
        FrameReader reader = readerBehind(Hex.buffer("02 %016x".formatted(length)));
        for (int from = 0; from < arrived; from += USUAL) {
            int to = Math.min(arrived, from + USUAL);
            assertThat(readInto(reader, ALLOC.buffer(to - from, to - from), numbered(from, to)))
                    .isNull();
        }
        return reader;
    }

    @Test
    void theRestOfABodyIsReadIntoItsOwnBuffer() {
        int whole = 1 << 18;
        FrameReader reader = readerInBody(whole, whole / 2);
        ByteBuf lent = reader.nextRead(direct, USUAL);

        assertThat(lent.writableBytes()).isEqualTo(whole / 2);
        assertThat(readInto(reader, lent, numbered(whole / 2, whole - 10_000))).isNull();
        ByteBuf last = reader.nextRead(direct, USUAL);
        assertThat(last.writableBytes()).isEqualTo(10_000);
        ByteBuf body = readInto(reader, last, numbered(whole - 10_000, whole));

        assertThat(used(direct)).isEqualTo(whole);
        assertNumbered(body, whole);
        assertThat(body.release()).isTrue();
    }

    @ParameterizedTest(name = "{0} bytes")
    @ValueSource(ints = {32 << 10, USUAL - 9, USUAL, USUAL + 1, 100_000, 2 * USUAL})
    void aBodyOfAboutAReadIsReadWithTheNextHeaderAndNotCopied(int length) {
        FrameReader reader = readerInBody(length, 0);
        ByteBuf lent = reader.nextRead(direct, USUAL);
        lent.writeBytes(numbered(0, length)).writeBytes(Hex.bytes("00 01 7a"));

        assertThat(reader.isBodyIn(lent)).isTrue();
        assertNumbered(lent.readSlice(reader.takeBody()), length);
        assertThat(reader.readHeader(lent)).isTrue();
        assertThat(reader.length()).isOne();
        assertThat(used(direct)).isEqualTo(length + 256);
        lent.release();
    }

    @Test
    void aShorterBodyIsReadTogetherWithOthers() {
        assertThat(readerInBody(32_000, 0).nextRead(direct, USUAL)).isNull();
    }

    @Test
    void littleThatHasArrivedOfABodyMovesToWhereTheRestIsRead() {
        FrameReader reader = readerInBody(USUAL, 250);
        ByteBuf body = readInto(reader, reader.nextRead(direct, USUAL), numbered(250, USUAL));

        assertNumbered(body, USUAL);
        body.release();
        assertThat(used(direct)).isZero();
    }

    @Test
    void aBufferThatIsHalfFullBecomesThatOfTheBody() {
        FrameReader reader = readerInBody(USUAL, 250);
        assertThat(readInto(reader, reader.nextRead(direct, USUAL), numbered(250, 40_000)))
                .isNull();
        assertThat(reader.kept()).isEqualTo(USUAL + 256);
        ByteBuf rest = reader.nextRead(direct, USUAL);
        assertThat(rest.writableBytes()).isEqualTo(USUAL + 256 - 40_000);
        ByteBuf body = readInto(reader, rest, numbered(40_000, USUAL));

        assertNumbered(body, USUAL);
        body.release();
        assertThat(used(direct)).isZero();
    }

    @Test
    void aBufferThatIsNotHalfFullIsNotKept() {
        FrameReader reader = readerInBody(USUAL, 250);
        assertThat(readInto(reader, reader.nextRead(direct, USUAL), numbered(250, 1000)))
                .isNull();

        assertThat(used(direct)).isLessThanOrEqualTo(2000);
        assertThat(reader.kept()).isLessThanOrEqualTo(2000);
        ByteBuf body = readInto(reader, ALLOC.buffer(USUAL), numbered(1000, USUAL));
        assertNumbered(body, USUAL);
        body.release();
    }

    @Test
    void whatIsReadElsewhereComesBeforeWhatIsReadIntoTheLentBuffer() {
        int whole = 1 << 18;
        FrameReader reader = readerInBody(whole, whole / 2);
        ByteBuf lent = reader.nextRead(direct, USUAL);
        lent.writeBytes(numbered(whole / 2 + 5, whole)); // the transport is not done with it
        ByteBuf elsewhere = ALLOC.buffer().writeBytes(numbered(whole / 2, whole / 2 + 5));

        assertThat(reader.readBody(elsewhere, direct)).isNull();
        elsewhere.release();
        ByteBuf body = reader.readBody(lent, direct);
        lent.release();
        assertNumbered(body, whole);
        body.release();
        assertThat(used(direct)).isZero();
    }

    @Test
    void aBufferThatSomebodyElseStillHasIsNotLentAgain() {
        FrameReader reader = readerInBody(1 << 18, 1 << 17);
        ByteBuf lent = reader.nextRead(direct, USUAL);

        assertThat(reader.nextRead(direct, USUAL)).isNull();
        lent.release(); // nothing was read
        ByteBuf again = reader.nextRead(direct, USUAL);
        assertThat(again.writableBytes()).isEqualTo(1 << 17);
        again.release();
        reader.close();
        assertThat(used(direct)).isZero();
    }

    @Test
    void aBufferThatIsLentOutlivesTheReader() {
        FrameReader reader = readerInBody(1 << 18, 1 << 17);
        ByteBuf lent = reader.nextRead(direct, USUAL);
        reader.close();

        lent.writeBytes(numbered(0, 1 << 17));
        assertThat(lent.release()).isTrue();
        assertThat(used(direct)).isZero();
    }

    @Test
    void aBufferOnTheHeapIsNotLent() {
        UnpooledByteBufAllocator heap = new UnpooledByteBufAllocator(false);
        FrameReader reader = readerBehind(Hex.buffer("02 00*5 04 00 00"));
        ByteBuf half = ALLOC.buffer().writeZero(1 << 17);
        assertThat(reader.readBody(half, heap)).isNull();
        half.release();

        assertThat(reader.nextRead(heap, USUAL)).isNull();
        reader.close();
    }

    @Test
    void aFewLastBytesAreReadWithWhatFollows() {
        FrameReader reader = readerInBody(1 << 18, (1 << 18) - 8191);
        assertThat(reader.nextRead(direct, USUAL)).isNull();
        reader.close();
    }

    /** As its rest is read with the next header, the next body is read alone. */
    @Test
    void aBodyThatBeganInAnotherReadEndsWithTheNextHeader() {
        FrameReader reader = readerInBody(USUAL, USUAL - 9);
        ByteBuf rest = reader.nextRead(direct, USUAL);
        assertThat(rest.writableBytes()).isEqualTo(9 + 256);
        ByteBuf body = readInto(reader, rest, numbered(USUAL - 9, USUAL));
        assertNumbered(body, USUAL);
        body.release();
    }

    @Test
    void betweenTwoFramesReadsAreAsUsual() {
        FrameReader reader = new FrameReader(ZMTP31, reserved -> {});
        assertThat(reader.nextRead(direct, 64)).isNull();
        FrameReader after = readerInBody(USUAL, 0);
        readInto(after, ALLOC.buffer(), numbered(0, USUAL)).release();
        assertThat(after.nextRead(direct, USUAL)).isNull();
    }

    @Test
    void aBodyThatIsTakenInPartsIsReadAsUsual() {
        FrameReader reader = readerInBody(USUAL, 0);
        reader.beginParts();
        assertThat(reader.nextRead(direct, USUAL)).isNull();
    }

    @Test
    void aReadIsNoLongerThanAMegabyte() {
        FrameReader reader = readerInBody(8 << 20, 4 << 20);
        ByteBuf lent = reader.nextRead(direct, USUAL);
        assertThat(lent.writableBytes()).isEqualTo(1 << 20);
        assertThat(lent.maxWritableBytes()).isEqualTo(1 << 20);
        lent.release();
        reader.close();
    }

    @Test
    void memoryIsReservedBeforeTheBufferOfAReadIsKept() {
        FrameReader reader = new FrameReader(ZMTP31, length -> {
            throw ZMTPException.tooLarge("memory", length, 0);
        });
        ByteBuf header = Hex.buffer("02 %016x".formatted(USUAL));
        reader.readHeader(header);
        header.release();
        ByteBuf lent = reader.nextRead(direct, USUAL);

        assertThatThrownBy(() -> readInto(reader, lent, numbered(0, 40_000)))
                .isInstanceOf(ZMTPException.class)
                .hasMessage("memory: " + USUAL + " (expected: <= 0)");
        assertThat(used(direct)).isZero();
        assertThat(reader.kept()).isZero();
        reader.close();
    }

    @Test
    void readsGrowWithWhatHasArrivedUpToHalfOfTheBody() {
        int whole = 1 << 20;
        FrameReader reader = readerInBody(whole, 0);
        List<Integer> lengths = new ArrayList<>();
        int arrived = 0;
        ByteBuf body = null;
        while (body == null) {
            ByteBuf next = reader.nextRead(direct, USUAL);
            ByteBuf buffer = next == null ? direct.ioBuffer(USUAL, USUAL) : next;
            lengths.add(buffer.writableBytes());
            int end = Math.min(whole, arrived + buffer.writableBytes());
            body = readInto(reader, buffer, numbered(arrived, end));
            arrived = end;
        }
        assertThat(lengths).containsExactly(USUAL, 2 * USUAL, 4 * USUAL, USUAL, whole / 2);
        assertNumbered(body, whole);
        body.release();
        assertThat(used(direct)).isZero();
    }

    /** Each read is as long as the transport likes: nothing is lost, doubled or out of order. */
    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void whateverIsReadWhereEachBodyArrives(long seed) {
        Random random = new Random(seed);
        for (int usual : new int[] {512, 5000, USUAL}) {
            FrameReader reader = new FrameReader(ZMTP31, reserved -> {});
            int[] lengths = random.ints(20, 1, 5 * usual).toArray();
            ByteBuf sent = ALLOC.buffer();
            for (int length : lengths) {
                sent.writeByte(2).writeLong(length).writeBytes(numbered(0, length));
            }
            int bodies = 0;
            int arrived = 0; // of the present frame, its header included
            while (bodies < lengths.length) {
                ByteBuf next = random.nextInt(8) == 0 ? null : reader.nextRead(direct, usual);
                ByteBuf in = next == null ? direct.ioBuffer(usual, usual) : next;
                assertThat(used(direct)).isLessThanOrEqualTo(3L * arrived + 2L * usual + 512 + 4096);
                int most = random.nextBoolean() ? in.writableBytes() : 1 + random.nextInt(in.writableBytes());
                sent.readBytes(in, Math.min(most, sent.readableBytes()));
                arrived += in.readableBytes();
                while (reader.readHeader(in)) {
                    ByteBuf body = reader.readBody(in, direct);
                    if (body == null) {
                        break;
                    }
                    assertNumbered(body, lengths[bodies++]);
                    body.release();
                    arrived = in.readableBytes();
                }
                in.release();
                assertThat(used(direct)).isLessThanOrEqualTo(2L * arrived + 4096);
            }
            sent.release();
            reader.close();
            assertThat(used(direct)).isZero();
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
