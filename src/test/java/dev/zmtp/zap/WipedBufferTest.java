package dev.zmtp.zap;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.Hex;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** A copy of a secret that does not outlive its use. */
class WipedBufferTest {

    private final ByteBuffer secret = ByteBuffer.wrap(Hex.bytes("\"secret\"")).asReadOnlyBuffer();
    private final WipedBuffer copy = new WipedBuffer(secret);

    @Test
    void itHasTheBytesOfTheSecretWhoseIndicesRemain() {
        assertThat(copy.nioBuffer()).isEqualTo(secret);
        assertThat(secret.remaining()).isEqualTo(6);
        copy.release();
    }

    @Test
    void itIsWipedByItsLastOwner() {
        byte[] array = copy.array();
        copy.retainedDuplicate().release();
        assertThat(array).isEqualTo(Hex.bytes("\"secret\""));

        copy.release();

        assertThat(array).isEqualTo(new byte[6]);
    }
}
