package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Properties as a value. */
class ZMTPMetadataTest {

    private static final ZMTPMetadata TWO =
            ZMTPMetadata.EMPTY.with("Socket-Type", "PUSH").with("X-Name", "val\u20ac");

    @Test
    void propertiesAreFoundIgnoringCase() {
        assertThat(TWO.valueUTF8("SOCKET-type")).isEqualTo("PUSH");
        assertThat(TWO.value("x-name")).isEqualTo(ByteBuffer.wrap("val\u20ac".getBytes(StandardCharsets.UTF_8)));
        assertThat(TWO.valueUTF8("Identity")).isNull();
        assertThat(TWO.value("Identity")).isNull();
    }

    @Test
    void propertiesKeepTheirOrderAndSpelling() {
        assertThat(TWO.names()).containsExactly("Socket-Type", "X-Name");
        assertThat(TWO.name(1)).isEqualTo("X-Name");
        assertThat(TWO.value(0).remaining()).isEqualTo(4);
        assertThat(TWO.size()).isEqualTo(2);
        assertThat(ZMTPMetadata.EMPTY.size()).isZero();
    }

    @Test
    void theFirstOfTwoEqualNamesWins() {
        ZMTPMetadata doubled = TWO.with("x-NAME", "other");

        assertThat(doubled.valueUTF8("X-Name")).isEqualTo("val\u20ac");
        assertThat(doubled.size()).isEqualTo(3);
    }

    @Test
    void withDoesNotChangeTheOldProperties() {
        TWO.with("more", "");

        assertThat(TWO.size()).isEqualTo(2);
    }

    @Test
    void aValueIsCopiedAndCannotBeChanged() {
        byte[] bytes = {1, 2, 3};
        ByteBuffer value = ByteBuffer.wrap(bytes);
        value.get();
        ZMTPMetadata metadata = ZMTPMetadata.EMPTY.with("X", value);
        bytes[1] = 9;

        assertThat(value.position()).isOne();
        assertThat(metadata.value("X")).isEqualTo(ByteBuffer.wrap(new byte[] {2, 3}));
        assertThatThrownBy(() -> metadata.value("X").put((byte) 0)).isInstanceOf(ReadOnlyBufferException.class);
    }

    @Test
    void eachCallerGetsItsOwnPosition() {
        TWO.value("X-Name").get();
        TWO.value(1).get();

        assertThat(TWO.value("X-Name").position()).isZero();
        assertThat(TWO.value(1).position()).isZero();
        assertThat(TWO.valueUTF8("X-Name")).isEqualTo("val\u20ac");
    }

    @Test
    void aNameHas1To255Bytes() {
        assertThat(ZMTPMetadata.EMPTY.with("n".repeat(255), "").size()).isOne();
        assertThatThrownBy(() -> ZMTPMetadata.EMPTY.with("", "value"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("property name length: 0 (expected: 1 to 255)");
        assertThatThrownBy(() -> ZMTPMetadata.EMPTY.with("n".repeat(256), "value"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("property name length: 256 (expected: 1 to 255)");
    }

    @Test
    void aNameHasCharactersOfOneByte() {
        assertThat(ZMTPMetadata.EMPTY.with("\u00ff", "").name(0)).isEqualTo("\u00ff");
        assertThatThrownBy(() -> ZMTPMetadata.EMPTY.with("\u0100", ""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("property name: \u0100 (expected: ISO 8859-1)");
    }

    @Test
    void allPropertiesOfANameCanBeLeftOut() {
        assertThat(TWO.with("x-NAME", "other").without("X-Name").names()).containsExactly("Socket-Type");
        assertThat(TWO.without("Identity")).isEqualTo(TWO);
        assertThat(TWO.size()).isEqualTo(2);
    }

    @Test
    void equalityDependsOnSpellingOrderAndValues() {
        ZMTPMetadata same = ZMTPMetadata.EMPTY.with("Socket-Type", "PUSH").with("X-Name", "val\u20ac");

        assertThat(TWO)
                .isEqualTo(same)
                .hasSameHashCodeAs(same)
                .isNotEqualTo(ZMTPMetadata.EMPTY.with("Socket-Type", "PUSH").with("x-name", "val\u20ac"))
                .isNotEqualTo(ZMTPMetadata.EMPTY.with("X-Name", "val\u20ac").with("Socket-Type", "PUSH"))
                .isNotEqualTo(ZMTPMetadata.EMPTY.with("Socket-Type", "PUSH").with("X-Name", "v"))
                .isNotEqualTo("X-Name");
        assertThat(TWO.hashCode()).isNotEqualTo(TWO.with("more", "").hashCode());
    }

    @Test
    void toStringShowsNamesAndLengthsOnly() {
        assertThat(TWO).hasToString("ZMTPMetadata{Socket-Type[4], X-Name[6]}");
        assertThat(ZMTPMetadata.EMPTY).hasToString("ZMTPMetadata{}");
        assertThat(ZMTPMetadata.EMPTY.with("a\n\u001b", "secret")).hasToString("ZMTPMetadata{a??[6]}");
    }
}
