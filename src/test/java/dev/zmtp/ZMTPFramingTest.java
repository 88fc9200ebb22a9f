package dev.zmtp;

import static dev.zmtp.ZMTPFraming.COMMAND;
import static dev.zmtp.ZMTPFraming.MORE;
import static dev.zmtp.ZMTPVersion.ZMTP10;
import static dev.zmtp.ZMTPVersion.ZMTP20;
import static dev.zmtp.ZMTPVersion.ZMTP30;
import static dev.zmtp.ZMTPVersion.ZMTP31;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The layout of a frame header, version by version, where it is written and where it is read. */
class ZMTPFramingTest {

    private static final List<ZMTPVersion> V2 = List.of(ZMTP20, ZMTP30, ZMTP31);

    private static Stream<Arguments> headers() {
        Stream<Arguments> v1 = Stream.of(
                Arguments.of(ZMTP10, 0, 0, "01 00"),
                Arguments.of(ZMTP10, MORE, 0, "01 01"),
                Arguments.of(ZMTP10, 0, 1, "02 00"),
                Arguments.of(ZMTP10, 0, 252, "fd 00"),
                Arguments.of(ZMTP10, MORE, 253, "fe 01"),
                Arguments.of(ZMTP10, 0, 254, "ff 00*7 ff 00"),
                Arguments.of(ZMTP10, MORE, 255, "ff 00*6 01 00 01"),
                Arguments.of(ZMTP10, 0, 256, "ff 00*6 01 01 00"),
                Arguments.of(ZMTP10, 0, 65535, "ff 00*5 01 00 00 00"),
                Arguments.of(ZMTP10, MORE, Integer.MAX_VALUE, "ff 00*4 80 00 00 00 01"));
        Stream<Arguments> v2 = V2.stream()
                .flatMap(version -> Stream.of(
                        Arguments.of(version, 0, 0, "00 00"),
                        Arguments.of(version, MORE, 0, "01 00"),
                        Arguments.of(version, 0, 1, "00 01"),
                        Arguments.of(version, 0, 252, "00 fc"),
                        Arguments.of(version, 0, 253, "00 fd"),
                        Arguments.of(version, 0, 254, "00 fe"),
                        Arguments.of(version, MORE, 255, "01 ff"),
                        Arguments.of(version, 0, 256, "02 00*6 01 00"),
                        Arguments.of(version, MORE, 65535, "03 00*6 ff ff"),
                        Arguments.of(version, 0, Integer.MAX_VALUE, "02 00*4 7f ff ff ff")));
        Stream<Arguments> commands = Stream.of(ZMTP30, ZMTP31)
                .flatMap(version -> Stream.of(
                        Arguments.of(version, COMMAND, 255, "04 ff"),
                        Arguments.of(version, COMMAND, 256, "06 00*6 01 00")));
        return Stream.of(v1, v2, commands).flatMap(rows -> rows);
    }

    private static Stream<Arguments> longHeaders() {
        Stream<Arguments> v1 =
                Stream.of(Arguments.of(ZMTP10, MORE, 2, "ff 00*7 03 01"), Arguments.of(ZMTP10, 0, 0, "ff 00*7 01 00"));
        Stream<Arguments> v2 = V2.stream()
                .flatMap(version -> Stream.of(
                        Arguments.of(version, MORE, 2, "03 00*7 02"), Arguments.of(version, 0, 0, "02 00*8")));
        return Stream.concat(v1, v2);
    }

    @ParameterizedTest(name = "{0}, flags {1}, {2} bytes: {3}")
    @MethodSource("headers")
    void aHeaderIsWrittenInTheShortestForm(ZMTPVersion version, int flags, int length, String bytes) {
        ByteBuf out = ByteBufAllocator.DEFAULT.buffer();
        version.framing().writeHeader(out, flags, length);

        assertThat(version.framing().headerLengthForBody(length)).isEqualTo(out.readableBytes());
        assertThat(Hex.dump(out)).isEqualTo(Hex.of(bytes));
    }

    @ParameterizedTest(name = "{0}, flags {1}, {2} bytes: {3}")
    @MethodSource("longHeaders")
    void aLongHeaderIsWrittenForAnyLength(ZMTPVersion version, int flags, int length, String bytes) {
        ByteBuf out = ByteBufAllocator.DEFAULT.buffer();
        version.framing().writeLongHeader(out, flags, length);

        assertThat(Hex.dump(out)).isEqualTo(Hex.of(bytes));
    }

    private static Stream<Arguments> readHeaders() {
        return Stream.concat(headers(), longHeaders());
    }

    @ParameterizedTest(name = "{0}: {3}")
    @MethodSource("readHeaders")
    void aHeaderIsReadWithoutMovingTheReaderIndex(ZMTPVersion version, int flags, int length, String bytes) {
        ByteBuf in = Hex.buffer("aa aa " + bytes);

        assertThat(version.framing().headerLengthFromFirstByte(in.getUnsignedByte(2)))
                .isEqualTo(Hex.bytes(bytes).length);
        assertThat(version.framing().flagsAt(in, 2)).isEqualTo(flags);
        assertThat(version.framing().bodyLengthAt(in, 2)).isEqualTo(length);
        assertThat(in.readerIndex()).isZero();
        in.release();
    }

    @ParameterizedTest(name = "{0}: {3}")
    @MethodSource("readHeaders")
    void aShortHeaderOfAMessageIsReadInOneStep(ZMTPVersion version, int flags, int length, String bytes) {
        byte[] header = Hex.bytes(bytes);
        boolean isShort = header.length == 2 && flags != COMMAND;

        assertThat(version.framing().shortMessageHeader((header[0] & 0xff) << 8 | (header[1] & 0xff)))
                .isEqualTo(isShort ? flags << 8 | length : -1);
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "ZMTP10, 0001, -1",
        "ZMTP10, 02fe, 1",
        "ZMTP10, 03ff, 258",
        "ZMTP20, 0400, -1",
        "ZMTP30, 0500, -1",
        "ZMTP31, 8000, -1"
    })
    void anIllegalHeaderIsNotReadInOneStep(ZMTPVersion version, String header, int read) {
        assertThat(version.framing().shortMessageHeader(Integer.parseInt(header, 16)))
                .isEqualTo(read);
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "ZMTP10, aa 02 fe,         254",
        "ZMTP10, aa ff 00*7 02 81, 129",
        "ZMTP20, aa 02 00*8,       2",
        "ZMTP31, aa ff 00*8,       255"
    })
    void theFlagsByteCanBeHadAsItIs(ZMTPVersion version, String bytes, int flags) {
        ByteBuf in = Hex.buffer(bytes);

        assertThat(version.framing().rawFlagsAt(in, 1)).isEqualTo(flags);
        in.release();
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "ZMTP10, ff 00*3 01 00*4 00,       4294967295",
        "ZMTP10, ff 7f ff*7 00,            9223372036854775806",
        "ZMTP20, 02 00*3 01 00*4,          4294967296",
        "ZMTP20, 02 7f ff*7,               9223372036854775807",
        "ZMTP30, 02 00*4 80 00 00 00,      2147483648",
        "ZMTP31, 02 00*3 01 00*4,          4294967296",
        "ZMTP31, 02 7f ff*7,               9223372036854775807",
        "ZMTP31, 06 00*4 ff*4,             4294967295"
    })
    void aLengthOfMoreThan31BitsIsReadWhole(ZMTPVersion version, String bytes, long length) {
        ByteBuf in = Hex.buffer(bytes);

        assertThat(version.framing().bodyLengthAt(in, 0)).isEqualTo(length);
        in.release();
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "ZMTP10, ff 80 00*7 00, 9223372036854775808",
        "ZMTP10, ff ff*8 00,    18446744073709551615",
        "ZMTP20, 02 ff*8,       18446744073709551615",
        "ZMTP30, 02 80 00*7,    9223372036854775808",
        "ZMTP31, 03 ff*7 da,    18446744073709551578",
        "ZMTP31, 06 80 00*7,    9223372036854775808"
    })
    void aLengthWithItsTopBitSetIsMalformed(ZMTPVersion version, String bytes, String shown) {
        ByteBuf in = Hex.buffer(bytes);

        assertThatThrownBy(() -> version.framing().bodyLengthAt(in, 0))
                .isInstanceOf(ZMTPException.class)
                .hasMessage("frame length: " + shown + " (expected: <= 9223372036854775807)")
                .extracting(e -> ((ZMTPException) e).code())
                .isEqualTo(ZMTPException.Code.MALFORMED);
        in.release();
    }

    @Test
    void aLongLengthOfZeroIsMalformedWhereItCountsTheFlags() {
        ByteBuf in = Hex.buffer("ff 00*8 00");

        assertThatThrownBy(() -> ZMTP10.framing().bodyLengthAt(in, 0))
                .isInstanceOf(ZMTPException.class)
                .hasMessage("frame length: 0 (expected: >= 1, it counts the flags byte)");
        in.release();
    }

    @Test
    void a10HeaderThatStartsWithZeroIsMalformedBeforeItsSecondByte() {
        assertThatThrownBy(() -> ZMTP10.framing().headerLengthFromFirstByte(0))
                .isInstanceOf(ZMTPException.class)
                .hasMessage("frame length: 0 (expected: >= 1, it counts the flags byte)");
    }

    @ParameterizedTest
    @CsvSource({"02 fe, 0", "02 ff, 1", "ff 00*7 02 f0, 0", "ff 00*7 02 81, 1"})
    void a10ReaderIgnoresReservedFlags(String bytes, int flags) {
        ByteBuf in = Hex.buffer(bytes);

        assertThat(ZMTP10.framing().flagsAt(in, 0)).isEqualTo(flags);
        in.release();
    }

    private static Stream<Arguments> everyFirstByte() {
        return V2.stream().flatMap(version -> IntStream.range(0, 256).mapToObj(first -> Arguments.of(version, first)));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("everyFirstByte")
    void onlyTheFlagsOfTheVersionAreLegal(ZMTPVersion version, int first) {
        List<Integer> legal = version == ZMTP20 ? List.of(0, 1, 2, 3) : List.of(0, 1, 2, 3, 4, 6);
        int reserved = version == ZMTP20 ? 0xfc : 0xf8;
        ByteBuf in = Hex.buffer("%02x 00*8".formatted(first));

        if (legal.contains(first)) {
            assertThat(version.framing().flagsAt(in, 0)).isEqualTo(first & (MORE | COMMAND));
        } else {
            String expected = (first & reserved) != 0 ? "reserved bits 0" : "no MORE on a command";
            assertThatThrownBy(() -> version.framing().flagsAt(in, 0))
                    .isInstanceOf(ZMTPException.class)
                    .hasMessage("frame flags: 0x" + Integer.toHexString(first) + " (expected: " + expected + ")");
        }
        in.release();
    }

    @ParameterizedTest
    @EnumSource(ZMTPVersion.class)
    void noHeaderExceedsTheMaximumLength(ZMTPVersion version) {
        assertThat(version.framing().headerLengthForBody(Integer.MAX_VALUE))
                .isLessThanOrEqualTo(ZMTPFraming.MAX_HEADER);
        assertThat(version.framing().headerLengthFromFirstByte(0xff)).isLessThanOrEqualTo(ZMTPFraming.MAX_HEADER);
    }
}
