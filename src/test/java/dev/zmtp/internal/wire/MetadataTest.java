package dev.zmtp.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Properties as bytes: the grammar, and every way to break it. */
class MetadataTest {

    private static final int MANY = 256;

    private static ZMTPMetadata read(String bytes) {
        ByteBuf in = Hex.buffer(bytes);
        try {
            ZMTPMetadata metadata = Metadata.read(in, MANY);
            assertThat(in.isReadable()).isFalse();
            return metadata;
        } finally {
            in.release();
        }
    }

    private static String written(ZMTPMetadata metadata) {
        ByteBuf out = ByteBufAllocator.DEFAULT.buffer();
        Metadata.write(out, metadata);
        assertThat(Metadata.length(metadata)).isEqualTo(out.readableBytes());
        return Hex.dump(out);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "01 \"a\" 00*4,                                  a,           ''",
        "01 \"a\" 00 00 00 01 \"b\",                     a,           b",
        "0b \"Socket-Type\" 00 00 00 04 \"PUSH\",        Socket-Type, PUSH",
        "08 \"Identity\" 00 00 01 2c 69*300,             Identity,    300"
    })
    void aPropertyIsReadAndWritten(String bytes, String name, String value) {
        String text = value.equals("300") ? "i".repeat(300) : value;
        ZMTPMetadata metadata = ZMTPMetadata.EMPTY.with(name, text);

        assertThat(read(bytes)).isEqualTo(metadata);
        assertThat(written(metadata)).isEqualTo(Hex.of(bytes));
    }

    @Test
    void noBytesMeansNoProperties() {
        assertThat(read("")).isEqualTo(ZMTPMetadata.EMPTY);
        assertThat(written(ZMTPMetadata.EMPTY)).isEmpty();
    }

    @Test
    void theLongestNameHas255Bytes() {
        String bytes = "ff 6e*255 00 00 00 01 76";

        assertThat(read(bytes).valueUTF8("n".repeat(255))).isEqualTo("v");
        assertThat(written(read(bytes))).isEqualTo(Hex.of(bytes));
    }

    @Test
    void propertiesKeepTheirOrderAndTheirBytes() {
        String bytes = "01 \"b\" 00 00 00 02 00 ff / 01 \"a\" 00*4 / 01 e4 00 00 00 01 0a";

        assertThat(read(bytes).names()).containsExactly("b", "a", "\u00e4");
        assertThat(written(read(bytes))).isEqualTo(Hex.of(bytes));
    }

    @Test
    void aValueOutlivesTheBytesItWasReadFrom() {
        ByteBuf in = Hex.buffer("01 \"a\" 00 00 00 01 \"b\"");
        ZMTPMetadata metadata = Metadata.read(in, MANY);
        in.setByte(6, 'z');
        in.release();

        assertThat(metadata.valueUTF8("a")).isEqualTo("b");
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "00,                               'property name length: 0 (expected: 1 to 0)'",
        "00 00 00 00 00,                   'property name length: 0 (expected: 1 to 4)'",
        "02 61,                            'property name length: 2 (expected: 1 to 1)'",
        "ff 61*254,                        'property name length: 255 (expected: 1 to 254)'",
        "01 61,                            'bytes after a property name: 0 (expected: >= 4)'",
        "01 61 00,                         'bytes after a property name: 1 (expected: >= 4)'",
        "01 61 00 00 00,                   'bytes after a property name: 3 (expected: >= 4)'",
        "01 61 00 00 00 01,                'property value length: 1 (expected: <= 0)'",
        "01 61 00 00 00 03 62 63,          'property value length: 3 (expected: <= 2)'",
        "01 61 7f ff ff ff 62,             'property value length: 2147483647 (expected: <= 1)'",
        "01 61 80 00 00 00 62,             'property value length: 2147483648 (expected: <= 1)'",
        "01 61 ff ff ff ff 62,             'property value length: 4294967295 (expected: <= 1)'",
        "01 61 00*4 01,                    'property name length: 1 (expected: 1 to 0)'",
        "01 61 00*4 00 00,                 'property name length: 0 (expected: 1 to 1)'",
        "01 61 00*4 02 62 63,              'bytes after a property name: 0 (expected: >= 4)'"
    })
    void incompletePropertiesAreMalformed(String bytes, String message) {
        assertThatThrownBy(() -> read(bytes))
                .isInstanceOf(ZMTPException.class)
                .hasMessage(message)
                .extracting(e -> ((ZMTPException) e).code())
                .isEqualTo(ZMTPException.Code.MALFORMED);
    }

    @ParameterizedTest(name = "{0} and {1}")
    @CsvSource({
        "Socket-Type, Socket-Type",
        "Socket-Type, SOCKET-TYPE",
        "socket-type, Socket-Type",
        "Identity, Identity",
        "iDENTITY, identity"
    })
    void socketTypeAndIdentityMustNotComeTwice(String first, String second) {
        String bytes = "%02x \"%s\" 00 00 00 01 61 01 \"x\" 00*4 %02x \"%s\" 00 00 00 01 61"
                .formatted(first.length(), first, second.length(), second);

        assertThatThrownBy(() -> read(bytes))
                .isInstanceOfSatisfying(
                        ZMTPException.class, e -> assertThat(e.code()).isEqualTo(ZMTPException.Code.MALFORMED))
                .hasMessage("property: a second " + second + " (expected: one)");
    }

    @Test
    void otherDuplicatesAreKeptAndTheFirstWins() {
        ZMTPMetadata metadata = read("03 \"X-a\" 00 00 00 01 31 / 03 \"x-A\" 00 00 00 01 32");

        assertThat(metadata.valueUTF8("X-A")).isEqualTo("1");
        assertThat(metadata.size()).isEqualTo(2);
    }

    @Test
    void asManyPropertiesAsAllowedAreRead() {
        assertThat(read("01 61 00*4 ".repeat(MANY)).size()).isEqualTo(MANY);
    }

    @Test
    void oneMorePropertyThanAllowedIsRefused() {
        assertThatThrownBy(() -> read("01 61 00*4 ".repeat(MANY + 1)))
                .isInstanceOf(ZMTPException.class)
                .hasMessage("metadata properties: 257 (expected: <= 256)")
                .extracting(e -> ((ZMTPException) e).code())
                .isEqualTo(ZMTPException.Code.TOO_LARGE);
    }

    @Test
    void aValueIsWrittenWhateverItsPosition() {
        ByteBuffer value = ByteBuffer.wrap(new byte[] {1, 2, 3, 4});
        value.position(1).limit(3);

        assertThat(written(ZMTPMetadata.EMPTY.with("X", value))).isEqualTo(Hex.of("01 \"X\" 00 00 00 02 02 03"));
        assertThat(value.remaining()).isEqualTo(2);
    }
}
