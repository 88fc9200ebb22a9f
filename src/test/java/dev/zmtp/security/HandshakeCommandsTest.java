package dev.zmtp.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPException.Code;
import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands that a context reads and writes for a mechanism. */
class HandshakeCommandsTest {

    private final ZMTPMechanism.Context context = new StandaloneContext("DEALER");

    @Test
    void aCommandStartsWithItsNameAndGrowsWithItsData() {
        ByteBuf command = context.command("TICKET", 1);
        command.writeBytes(Hex.bytes("\"abcdef\""));
        assertThat(Hex.dump(command)).isEqualTo(Hex.of("06 \"TICKET\" \"abcdef\""));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 256})
    void aNameHas1To255Bytes(int length) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> context.command("A".repeat(length), 0))
                .withMessage("command name length: " + length + " (expected: 1 to 255)");
        assertThat(Hex.dump(context.command("A".repeat(255), 0))).isEqualTo(Hex.of("ff 41*255"));
    }

    @Test
    void ourMetadataIsAppended() {
        ByteBuf command = context.command("READY", 0);
        context.writeMetadata(command);
        assertThat(Hex.dump(command)).isEqualTo(Hex.of("05 \"READY\" 0b \"Socket-Type\" 00000006 \"DEALER\""));
    }

    @Test
    void anErrorIsOneReasonOfPrintableCharacters() {
        assertThat(Hex.dump(context.error("no\n" + "x".repeat(300))))
                .isEqualTo(Hex.of("05 \"ERROR\" ff \"no?\" 78*252"));
    }

    @Test
    void theDataOfAnExpectedCommandIsLeft() {
        ByteBuf command = Hex.buffer("06 \"TICKET\" 01 02");
        context.expect(command, "TICKET");
        assertThat(Hex.dump(command)).isEqualTo("0102");
    }

    @ParameterizedTest
    @CsvSource({
        "06 \"Ticket\", UNEXPECTED, 'command: Ticket (expected: TICKET)'",
        "05 \"READY\", UNEXPECTED, 'command: READY (expected: TICKET)'",
        "03 0a 1b ff, UNEXPECTED, 'command: ??? (expected: TICKET)'",
        "05 \"ERROR\" 03 \"400\", PEER_ERROR, 'refused by the peer: 400'",
        "07 \"TICKET\", MALFORMED, 'command name length: 7 (expected: 1 to 6)'",
        "'', MALFORMED, 'command body length: 0 (expected: >= 1)'"
    })
    void anyOtherCommandIsRefused(String command, Code code, String message) {
        ByteBuf body = Hex.buffer(command);
        assertThatThrownBy(() -> context.expect(body, "TICKET"))
                .isInstanceOfSatisfying(
                        ZMTPException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessage(message);
        body.release();
    }
}
