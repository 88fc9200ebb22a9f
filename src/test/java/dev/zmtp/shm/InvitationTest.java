package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a server says first. {@link SharedMemoryChannelTest} has what a client refuses. */
class InvitationTest {

    private static final String NAME = "netty-zmtp-0123456789abcdef0123456789abcdef";

    @TempDir
    Path directory;

    @Test
    void anInvitationIsReadAsItWasWritten() throws IOException {
        Invitation invitation = new Invitation(Path.of("/dev/shm", NAME), 4096);
        ByteBuf bytes = Hex.buffer("aa");
        invitation.write(bytes);
        bytes.writeByte(0xbb).skipBytes(1);

        assertThat(Invitation.length(bytes)).isEqualTo(bytes.readableBytes() - 1);
        assertThat(Invitation.read(bytes)).isEqualTo(invitation);
        assertThat(Hex.dump(bytes)).isEqualTo("bb");
    }

    @Test
    void anInvitationHasTheseBytes() {
        ByteBuf bytes = Hex.buffer("");
        new Invitation(Path.of("/a"), 1 << 16).write(bytes);
        assertThat(Hex.dump(bytes)).isEqualTo(Hex.of("\"ZSHM\" 02 00010000 0002 2f 61"));
    }

    @ParameterizedTest
    @CsvSource({"0000, 11", "00ff, 266", "1000, 4107"})
    void thePathHasUpTo4096Bytes(String length, int all) throws IOException {
        ByteBuf bytes = Hex.buffer("\"ZSHM\" 02 00001000 " + length);
        assertThat(Invitation.length(bytes)).isEqualTo(all);
        bytes.release();
    }

    @Test
    void aLongerPathIsRefused() {
        ByteBuf bytes = Hex.buffer("\"ZSHM\" 02 00001000 1001");
        assertThatThrownBy(() -> Invitation.length(bytes))
                .isInstanceOf(IOException.class)
                .hasMessage("shared memory: path length: 4097 (expected: <= 4096)");
        bytes.release();
    }

    @Test
    void aClientThatAcceptsTakesTheNameFromTheFile() throws IOException {
        Path path = directory.resolve(NAME);
        SharedFile file = SharedFile.create(path, Invitation.RINGS, 4096);
        RingPair client = new Invitation(path, 4096).accept();
        assertThat(path).doesNotExist();
        client.file().close();
        file.close();
    }

    private static ByteBuf refusal(Throwable cause) {
        ByteBuf bytes = Hex.buffer("");
        Invitation.writeRefusal(bytes, cause);
        return bytes;
    }

    @Test
    void aRefusalIsAnInvitationToNothing() {
        ByteBuf bytes = refusal(new IOException("shared memory: full"));
        assertThat(Hex.dump(bytes)).isEqualTo(Hex.of("\"ZSHM\" 02 00000000 0004 \"full\""));
    }

    @Test
    void aClientThatIsRefusedKnowsWhy() {
        ByteBuf bytes = refusal(new IllegalStateException("one\ntwo"));
        assertThatThrownBy(() -> Invitation.read(bytes))
                .isInstanceOf(IOException.class)
                .hasMessage("shared memory: the server has no file: java.lang.IllegalStateException: one?two");
        bytes.release();
    }

    @Test
    void aRefusalHasNoMoreThan512BytesOfText() {
        ByteBuf bytes = refusal(new IOException("x".repeat(1000)));
        assertThat(bytes.readableBytes()).isEqualTo(Invitation.FIXED + 512);
        bytes.release();
    }
}
