package dev.zmtp.internal.socket.peer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.testing.Hex;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is known about a peer, and how its name is shown. */
class PeerInfoTest {

    @ParameterizedTest
    @ValueSource(strings = {"worker-1", " ", "~", ""})
    void aNameOfPrintableCharactersIsShownInQuotes(String name) {
        assertThat(PeerInfo.text(bytes(name))).isEqualTo('"' + name + '"');
    }

    @ParameterizedTest
    @CsvSource({"1f", "7f", "00", "e9"})
    void aNameWithAnyOtherCharacterIsShownInHex(String hex) {
        assertThat(PeerInfo.text(ByteBuffer.wrap(Hex.bytes("\"a\" " + hex)))).isEqualTo("0x61" + hex);
    }

    @Test
    void aNameThatIsShownIsNotRead() {
        ByteBuffer name = bytes("name");

        PeerInfo.text(name);

        assertThat(name.remaining()).isEqualTo(4);
    }

    @Test
    void aPeerSpeaksItsVersionWithItsMechanism() {
        PeerInfo info = new PeerInfo(bytes("name"), null, ZMTPVersion.ZMTP31, "CURVE", null, null);

        assertThat(info.protocol()).isEqualTo("ZMTP31 CURVE");
        assertThat(info.identity()).isEqualTo(bytes("name"));
    }

    @Test
    void withinTheProcessNoZmtpIsSpoken() {
        assertThat(PeerInfo.UNKNOWN.protocol()).isEqualTo("inproc");
    }

    /** There may be very many peers. */
    @Test
    void allPeersWithoutANameShareOneEmptyName() {
        PeerInfo info = new PeerInfo(bytes(""), null, ZMTPVersion.ZMTP31, "NULL", null, null);

        assertThat(info.identity()).isSameAs(PeerInfo.UNKNOWN.identity());
        assertThat(info.identity().remaining()).isZero();
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1));
    }
}
