package dev.zmtp.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPFraming;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Frames of CURVE that are opened in parts, as they arrive. */
class CurveCipherTest {

    private static final int LENGTH = 10_000;
    private static final int HEADER = 32;

    private final Random random = new Random(26);
    private final CurveCipher sealing = cipher();
    private final CurveCipher opening = cipher();

    private static CurveCipher cipher() {
        byte[] key = new byte[SecretBox.KEY_LENGTH];
        byte[] prefix = new byte[SecretBox.PREFIX_LENGTH];
        return new CurveCipher(new SecretBox(key, prefix), 1, new SecretBox(key, prefix), 0);
    }

    private ByteBuf body() {
        byte[] bytes = new byte[LENGTH];
        random.nextBytes(bytes);
        return Unpooled.wrappedBuffer(bytes);
    }

    private ByteBuf seal(ByteBuf body) {
        ByteBuf out = Unpooled.buffer();
        sealing.seal(ZMTPFraming.MORE, body, out);
        return out;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 31, 32, 33, 63, 64, 65, 127, 1_000, 9_999})
    void itDoesNotMatterInWhichPartsAFrameIsOpened(int step) {
        for (int frame = 0; frame < 3; frame++) {
            ByteBuf body = body();
            ByteBuf sealed = seal(body);
            for (int length = step; length < sealed.readableBytes(); length += step) {
                opening.openPart(sealed, length);
            }
            assertThat(opening.open(sealed)).isEqualTo(ZMTPFraming.MORE);
            assertThat(sealed).isEqualTo(body);
        }
    }

    @Test
    void aPartIsOpenInPlaceAtOnce() {
        ByteBuf body = body();
        ByteBuf sealed = seal(body);
        opening.openPart(sealed, HEADER + 32 + 64);
        assertThat(sealed.slice(HEADER + 1, 95)).isEqualTo(body.slice(0, 95)); // after a byte of flags
    }

    /** A byte of the MAC, of a part that was open already, and of the rest. */
    @ParameterizedTest
    @ValueSource(ints = {17, 40, 5_000, LENGTH})
    void aForgedFrameDoesNotOpen(int changed) {
        ByteBuf sealed = seal(body());
        sealed.setByte(changed, ~sealed.getByte(changed));
        opening.openPart(sealed, 6_000);
        assertThatThrownBy(() -> opening.open(sealed)).hasMessageContaining("a box that does not open");
    }

    @Test
    void anOldNonceIsRefusedWithTheFirstPart() {
        ByteBuf sealed = seal(body());
        ByteBuf again = sealed.copy();
        opening.open(sealed);
        assertThatThrownBy(() -> opening.openPart(again, 100)).hasMessageContaining("nonce");
    }

    @Test
    void clearTextIsRefusedWithTheFirstPart() {
        assertThatThrownBy(() -> opening.openPart(body(), 100))
                .isInstanceOf(ZMTPException.class)
                .hasMessageContaining("in clear text");
    }

    @Test
    void aPartOfTheHeaderIsTooEarly() {
        ByteBuf body = body();
        assertThatCode(() -> opening.openPart(body, HEADER - 1)).doesNotThrowAnyException();
        assertThat(body.readableBytes()).isEqualTo(LENGTH);
    }
}
