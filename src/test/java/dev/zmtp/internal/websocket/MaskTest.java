package dev.zmtp.internal.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MaskTest {

    private static final byte[] KEY = {0x37, (byte) 0xfa, 0x21, 0x3d};

    private static byte[] payload(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (31 * i + 7);
        }
        return bytes;
    }

    /** The algorithm of RFC 6455, section 5.3, word for word. */
    private static byte[] masked(byte[] payload) {
        byte[] masked = new byte[payload.length];
        for (int i = 0; i < payload.length; i++) {
            masked[i] = (byte) (payload[i] ^ KEY[i % 4]);
        }
        return masked;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void eachByteIsCombinedWithAByteOfTheKeyAndMoved(boolean direct) {
        for (int length = 0; length < 40; length++) {
            for (int shift = 0; shift < 10; shift++) {
                byte[] payload = payload(length);
                ByteBuf buffer = direct ? Unpooled.directBuffer(64) : Unpooled.buffer(64);
                buffer.writeZero(shift).writeBytes(payload).writeByte(0x55);

                Mask.apply(buffer.nioBuffer(0, 64), shift, 0, length, ZwsVector.KEY);

                assertThat(ByteBufUtil.getBytes(buffer, 0, length))
                        .as("%d bytes, moved by %d", length, shift)
                        .isEqualTo(masked(payload));
                assertThat(buffer.getByte(shift + length)).isEqualTo((byte) 0x55);
                buffer.release();
            }
        }
    }

    @Test
    void anArrayIsMaskedLikeABuffer() {
        byte[] bytes = payload(125);

        Mask.apply(bytes, ZwsVector.KEY);

        assertThat(bytes).isEqualTo(masked(payload(125)));
    }

    @Test
    void aPayloadCanBeMaskedInParts() {
        for (int cut = 0; cut <= 20; cut++) {
            ByteBuf buffer = Unpooled.buffer().writeBytes(payload(20));

            Mask.apply(buffer, 0, cut, ZwsVector.KEY);
            Mask.apply(buffer, cut, 20 - cut, Mask.after(cut, ZwsVector.KEY));

            assertThat(ByteBufUtil.getBytes(buffer)).as("cut at %d", cut).isEqualTo(masked(payload(20)));
        }
    }

    @Test
    void theKeysOfTwoThreadsDiffer() {
        List<Integer> keys = new ArrayList<>();
        for (int thread = 0; thread < 2; thread++) {
            keys.addAll(CompletableFuture.supplyAsync(
                            () -> IntStream.range(0, 100)
                                    .mapToObj(i -> MaskingKeys.next())
                                    .toList(),
                            task -> new Thread(task).start())
                    .join());
        }

        assertThat(keys).hasSize(200).doesNotHaveDuplicates();
    }
}
