package dev.zmtp.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPException;
import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The grammar of command bodies, and its negation. */
class CommandTest {

    private static final ByteBufAllocator ALLOC = ByteBufAllocator.DEFAULT;

    @ParameterizedTest(name = "{0} is {1}")
    @CsvSource(
            quoteCharacter = '\'',
            value = {
                "05 \"READY\",              READY",
                "05 \"ERROR\",              ERROR",
                "09 \"SUBSCRIBE\",          SUBSCRIBE",
                "06 \"CANCEL\",             CANCEL",
                "04 \"PING\",               PING",
                "04 \"PONG\",               PONG",
                "04 \"JOIN\",               JOIN",
                "05 \"LEAVE\",              LEAVE",
                "04 \"ping\",               UNKNOWN",
                "04 \"Ping\",               UNKNOWN",
                "05 \"ready\",              UNKNOWN",
                "03 \"PIN\",                UNKNOWN",
                "05 \"PINGS\",              UNKNOWN",
                "05 \"PING\" 00,            UNKNOWN",
                "04 \"PUNG\",               UNKNOWN",
                "07 \"UNKNOWN\",            UNKNOWN",
                "05 \"HELLO\",              HELLO",
                "07 \"WELCOME\",            WELCOME",
                "08 \"INITIATE\",           INITIATE",
                "07 \"MESSAGE\",            UNKNOWN",
                "01 \"A\",                  UNKNOWN",
                "ff 41*255,                 UNKNOWN"
            })
    void aNameIsComparedExactly(String body, Command command) {
        ByteBuf bytes = Hex.buffer(body + " aa bb");

        assertThat(Command.read(bytes)).isEqualTo(command);
        assertThat(Hex.dump(bytes)).as("the data").isEqualTo("aabb");
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "'',             'command body length: 0 (expected: >= 1)'",
        "00,             'command name length: 0 (expected: 1 to 0)'",
        "00 50 49 4e 47, 'command name length: 0 (expected: 1 to 4)'",
        "01,             'command name length: 1 (expected: 1 to 0)'",
        "05 50 49 4e 47, 'command name length: 5 (expected: 1 to 4)'",
        "ff 41*254,      'command name length: 255 (expected: 1 to 254)'"
    })
    void aBodyWithoutAWholeNameIsMalformed(String body, String message) {
        ByteBuf bytes = Hex.buffer(body);

        malformed(() -> Command.read(bytes), message);
        bytes.release();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "UNKNOWN")
    void aWrittenCommandIsReadAsThatCommand(Command command) {
        ByteBuf data = Hex.buffer("01 02 03");
        ByteBuf body = command.body(ALLOC, data);

        assertThat(data.readableBytes()).isEqualTo(3);
        assertThat(Command.read(body)).isEqualTo(command);
        assertThat(Hex.dump(body)).isEqualTo(Hex.dump(data));
    }

    @Test
    void aBodyStartsWithItsName() {
        assertThat(Hex.dump(Command.CANCEL.body(ALLOC, 2).writeByte(0x41))).isEqualTo(Hex.of("06 \"CANCEL\" 41"));
    }

    // ERROR

    @Test
    void anErrorHoldsItsReason() {
        assertThat(Hex.dump(Command.error(ALLOC, "400"))).isEqualTo(Hex.of("05 \"ERROR\" 03 \"400\""));
    }

    @Test
    void anErrorMayHaveNoReason() {
        assertThat(Hex.dump(Command.error(ALLOC, ""))).isEqualTo(Hex.of("05 \"ERROR\" 00"));
    }

    @Test
    void theReasonOfAnErrorIsTruncatedTo255Bytes() {
        assertThat(Hex.dump(Command.error(ALLOC, "x".repeat(256)))).isEqualTo(Hex.of("05 \"ERROR\" ff 78*255"));
    }

    @Test
    void theReasonOfAnErrorIsPrintableAscii() {
        assertThat(Hex.dump(Command.error(ALLOC, "\t\u00e4~ \u007f\u20ac")))
                .isEqualTo(Hex.of("05 \"ERROR\" 06 \"??~\" 20 \"??\""));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({"03 34 30 30, 400", "00, ''", "04 41 0a 1b ff, A???"})
    void aReasonIsReadAndSanitizedForLogs(String data, String reason) {
        ByteBuf bytes = Hex.buffer(data);

        assertThat(Command.readReason(bytes)).isEqualTo(reason);
        assertThat(bytes.isReadable()).isFalse();
        bytes.release();
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "'',           'ERROR data length: 0 (expected: >= 1)'",
        "04 34 30 30,  'ERROR reason length: 4 (expected: 3)'",
        "ff,           'ERROR reason length: 255 (expected: 0)'",
        "02 34 30 30,  'ERROR reason length: 2 (expected: 3)'"
    })
    void dataThatIsNotExactlyOneReasonIsMalformed(String data, String message) {
        ByteBuf bytes = Hex.buffer(data);

        malformed(() -> Command.readReason(bytes), message);
        bytes.release();
    }

    // PING

    @ParameterizedTest
    @CsvSource({"0, 00 00", "3, 00 03", "655, 02 8f", "65535, ff ff"})
    void aPingHoldsItsTtl(int ttl, String bytes) {
        assertThat(Hex.dump(Command.ping(ALLOC, ttl))).isEqualTo(Hex.of("04 \"PING\" " + bytes));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({"00 00, 0, ''", "00 03 4c 4f 4c, 3, 4c4f4c", "ff ff, 65535, ''"})
    void aTtlIsReadAndTheContextIsLeft(String data, int ttl, String context) {
        ByteBuf bytes = Hex.buffer(data);

        assertThat(Command.readTtl(bytes)).isEqualTo(ttl);
        assertThat(Hex.dump(bytes)).isEqualTo(context);
    }

    @Test
    void theLongestContextHas16Bytes() {
        ByteBuf bytes = Hex.buffer("00 00 aa*16");

        assertThat(Command.readTtl(bytes)).isZero();
        assertThat(bytes.readableBytes()).isEqualTo(16);
        bytes.release();
    }

    @Test
    void aLongerContextIsMalformed() {
        ByteBuf bytes = Hex.buffer("00 00 aa*17");

        malformed(() -> Command.readTtl(bytes), "PING context length: 17 (expected: <= 16)");
        bytes.release();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aPingWithoutAWholeTtlIsMalformed(int length) {
        ByteBuf bytes = ALLOC.buffer().writeZero(length);

        malformed(() -> Command.readTtl(bytes), "PING data length: " + length + " (expected: >= 2)");
        bytes.release();
    }

    private static void malformed(Runnable reading, String message) {
        assertThatThrownBy(reading::run)
                .isInstanceOf(ZMTPException.class)
                .hasMessage(message)
                .extracting(e -> ((ZMTPException) e).code())
                .isEqualTo(ZMTPException.Code.MALFORMED);
    }
}
