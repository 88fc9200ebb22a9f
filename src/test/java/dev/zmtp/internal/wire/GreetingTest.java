package dev.zmtp.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.Vectors;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The greeting field by field: what is written, and what a peer may and may not send. */
class GreetingTest {

    @ParameterizedTest(name = "identity of {0} bytes")
    @CsvSource({"0, ff 00*7 01 7f", "2, ff 00*7 03 7f", "254, ff 00*7 ff 7f", "255, ff 00*6 01 00 7f"})
    void aSignatureIsTheHeaderOfAnIdentityFrameFor10Peers(int length, String bytes) {
        ByteBuf out = ByteBufAllocator.DEFAULT.buffer();
        Greeting.writeSignature(out, length);

        assertThat(out.readableBytes()).isEqualTo(Greeting.SIGNATURE_LENGTH);
        assertThat(ZMTPVersion.ZMTP10.framing().bodyLengthAt(out, 0)).isEqualTo(length);
        assertThat(Hex.dump(out)).isEqualTo(Hex.of(bytes));
    }

    @ParameterizedTest(name = "{0} {1} {2}")
    @CsvSource({
        "ZMTP31, NULL,                 false, 01 \"NULL\" 00*16 00 00*31",
        "ZMTP30, NULL,                 false, 00 \"NULL\" 00*16 00 00*31",
        "ZMTP31, CURVE,                true,  01 \"CURVE\" 00*15 01 00*31",
        "ZMTP31, ABCDEFGHIJKLMNOPQRST, false, 01 \"ABCDEFGHIJKLMNOPQRST\" 00 00*31"
    })
    void theRestFollowsTheMajorVersion(ZMTPVersion version, String mechanism, boolean asServer, String bytes) {
        ByteBuf out = ByteBufAllocator.DEFAULT.buffer();
        Greeting.writeRest(out, version, mechanism, asServer);

        assertThat(out.readableBytes()).isEqualTo(Greeting.V3_LENGTH - Greeting.MINOR_OFFSET);
        assertThat(Hex.dump(out)).isEqualTo(Hex.of(bytes));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "\"NULL\" 00*16 00 00*31, NULL",
        "\"NULL\" 00*16 01 00*31, NULL",
        "\"NULL\" 00*16 ff ff*31, NULL",
        "\"ABCDEFGHIJKLMNOPQRST\" 00 00*31, ABCDEFGHIJKLMNOPQRST"
    })
    void theSameMechanismIsAcceptedWhateverAsServerAndFillerAre(String rest, String mechanism) {
        ByteBuf greeting = Hex.buffer("aa ff 00*7 01 7f 03 01 " + rest);

        assertThatCode(() -> Greeting.checkMechanism(greeting, 1, mechanism)).doesNotThrowAnyException();
        greeting.release();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "\"PLAIN\" 00*15,                PLAIN",
        "\"null\" 00*16,                 null",
        "\"NULL\" 00 01 00*14,           NULL??",
        "\"NULL\" 00*15 58,              NULL???????????????X",
        "\"NUL\" 00*17,                  NUL",
        "\"NULLS\" 00*15,                NULLS",
        "\"NULL\" 20*16,                 NULL????????????????",
        "0a ff 00*18,                    ??",
        "00*20,                          ''"
    })
    void anotherMechanismIsRefusedAndSanitizedForLogs(String mechanism, String shown) {
        ByteBuf greeting = Hex.buffer("ff 00*7 01 7f 03 01 " + mechanism + " 00*32");

        assertThatThrownBy(() -> Greeting.checkMechanism(greeting, 0, "NULL"))
                .isInstanceOf(ZMTPException.class)
                .hasMessage("mechanism: " + shown + " (expected: NULL)")
                .extracting(e -> ((ZMTPException) e).code())
                .isEqualTo(ZMTPException.Code.MECHANISM);
        greeting.release();
    }

    @Test
    void anIdentityHasUpTo255Bytes() {
        assertThatCode(() -> Greeting.checkIdentityLength(0)).doesNotThrowAnyException();
        assertThatCode(() -> Greeting.checkIdentityLength(255)).doesNotThrowAnyException();
        assertThatThrownBy(() -> Greeting.checkIdentityLength(256))
                .isInstanceOf(ZMTPException.class)
                .hasMessage("identity length: 256 (expected: <= 255)");
        assertThatThrownBy(() -> Greeting.checkIdentityLength(Long.MAX_VALUE))
                .isInstanceOf(ZMTPException.class)
                .hasMessage("identity length: 9223372036854775807 (expected: <= 255)");
    }

    @Test
    void signatureRevisionAndRestMakeAGreeting() {
        ByteBuf out = ByteBufAllocator.DEFAULT.buffer();
        Greeting.writeSignature(out, 0);
        out.writeByte(ZMTPVersion.ZMTP31.revision());
        Greeting.writeRest(out, ZMTPVersion.ZMTP31, "NULL", false);

        assertThat(out.readableBytes()).isEqualTo(Greeting.V3_LENGTH);
        assertThat(Hex.dump(out)).isEqualTo(Vectors.hex("3.1 greeting"));
    }
}
