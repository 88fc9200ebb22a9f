package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.codec.DecoderException;
import org.junit.jupiter.api.Test;

/** How a peer's fault is reported: the value, what was expected, and no stack trace. */
class ZMTPExceptionTest {

    @Test
    void theMessageSaysTheValueAndWhatWasExpected() {
        assertThat(ZMTPException.malformed("flags", "0x5", "0"))
                .hasMessage("flags: 0x5 (expected: 0)")
                .extracting(ZMTPException::code)
                .isEqualTo(ZMTPException.Code.MALFORMED);
        assertThat(ZMTPException.of(ZMTPException.Code.VERSION, "version", ZMTPVersion.ZMTP10, "ZMTP31"))
                .hasMessage("version: ZMTP10 (expected: ZMTP31)")
                .extracting(ZMTPException::code)
                .isEqualTo(ZMTPException.Code.VERSION);
    }

    @Test
    void textOfThePeerCannotHarmALog() {
        assertThat(ZMTPException.malformed("name", "a\r\n\u001b[2J\u00e9\u202e ~", "a name"))
                .hasMessage("name: a???[2J?? ~ (expected: a name)");
        assertThat(ZMTPException.of(ZMTPException.Code.MECHANISM, "mechanism", "\0", "NULL"))
                .hasMessage("mechanism: ? (expected: NULL)");
    }

    @Test
    void aLongTextOfThePeerIsCut() {
        assertThat(ZMTPException.malformed("name", "n".repeat(256), "a name"))
                .hasMessage("name: " + "n".repeat(256) + " (expected: a name)");
        assertThat(ZMTPException.malformed("name", "\n".repeat(100_000), "a name"))
                .hasMessage("name: " + "?".repeat(256) + ".. 100000 characters (expected: a name)");
    }

    @Test
    void aLengthAboveItsLimitIsPrintedUnsigned() {
        assertThat(ZMTPException.tooLarge("frame length", -1, 64))
                .hasMessage("frame length: 18446744073709551615 (expected: <= 64)")
                .extracting(ZMTPException::code)
                .isEqualTo(ZMTPException.Code.TOO_LARGE);
    }

    @Test
    void aFailureMayHaveACause() {
        Throwable cause = new IllegalStateException("x");

        assertThat(new ZMTPException(ZMTPException.Code.CLOSED, "closed", cause))
                .hasCause(cause);
        assertThat(new ZMTPException(ZMTPException.Code.CLOSED, "closed")).hasNoCause();
    }

    @Test
    void aFailureHasNoStackTrace() {
        ZMTPException failure = ZMTPException.malformed("flags", 1, "0");

        assertThat(failure.getStackTrace()).isEmpty();
        assertThat(failure.fillInStackTrace().getStackTrace()).isEmpty();
    }

    @Test
    void itIsADecoderExceptionOfNetty() {
        assertThat(ZMTPException.malformed("flags", 1, "0")).isInstanceOf(DecoderException.class);
    }

    @Test
    void aFailureHasACode() {
        assertThatThrownBy(() -> new ZMTPException(null, "message"))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("code");
    }
}
