package dev.zmtp.internal.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Texts of failures that a peer can have a part in. */
class CausesTest {

    @Test
    void aTextIsALineWithoutControlCharacters() {
        assertThat(Causes.line("name: x\n2026-01-01 ERROR\u001b[31m\u2028\u202ey"))
                .isEqualTo("name: x 2026-01-01 ERROR [31m y");
    }

    @Test
    void aTextInAnyLanguageIsKept() {
        assertThat(Causes.line("Verbindung verweigert: ö, 接続")).isEqualTo("Verbindung verweigert: ö, 接続");
    }

    @Test
    void aLongTextIsCut() {
        assertThat(Causes.line("x".repeat(100_000)))
                .hasSizeLessThan(1_100)
                .startsWith("xxx")
                .endsWith("x.. 100000 characters");
    }
}
