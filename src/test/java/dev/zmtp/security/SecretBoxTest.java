package dev.zmtp.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.bouncycastle.crypto.engines.XSalsa20Engine;
import org.bouncycastle.crypto.macs.Poly1305;
import org.bouncycastle.crypto.params.KeyParameter;
import org.bouncycastle.crypto.params.ParametersWithIV;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Boxes of every length, in buffers of every kind, next to those of another implementation of the same primitives. */
class SecretBoxTest {

    private static final int MAC = SecretBox.MAC_LENGTH;
    private static final long COUNT = 0x0102_0304_0506_0708L;

    private final Random random = new Random(26);
    private final byte[] key = bytes(SecretBox.KEY_LENGTH);
    private final byte[] prefix = bytes(SecretBox.PREFIX_LENGTH);
    private final SecretBox boxes = new SecretBox(key, prefix);

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    /** What NaCl would make of it, by the engine of the library of primitives. */
    private byte[] expected(byte[] plain) {
        byte[] nonce = ByteBuffer.allocate(SecretBox.NONCE_LENGTH)
                .put(prefix)
                .putLong(COUNT)
                .array();
        XSalsa20Engine stream = new XSalsa20Engine();
        stream.init(true, new ParametersWithIV(new KeyParameter(key), nonce));
        byte[] macKey = new byte[32];
        stream.processBytes(macKey, 0, 32, macKey, 0);
        byte[] box = new byte[MAC + plain.length];
        stream.processBytes(plain, 0, plain.length, box, MAC);
        Poly1305 mac = new Poly1305();
        mac.init(new KeyParameter(macKey));
        mac.update(box, MAC, plain.length);
        mac.doFinal(box, 0);
        return box;
    }

    private static ByteBuf buffer(boolean direct, byte[] plain) {
        ByteBufAllocator alloc = ByteBufAllocator.DEFAULT;
        int length = 3 + MAC + plain.length; // odd, so that nothing is aligned
        ByteBuf data = direct ? alloc.directBuffer(length) : alloc.heapBuffer(length);
        return data.writeZero(3 + MAC).writeBytes(plain);
    }

    private static byte[] content(ByteBuf data, int index) {
        byte[] bytes = new byte[data.writerIndex() - index];
        data.getBytes(index, bytes);
        return bytes;
    }

    @ParameterizedTest(name = "direct: {0}")
    @ValueSource(booleans = {true, false})
    void boxesOfEveryLengthEqualThoseOfNaCl(boolean direct) {
        for (int length = 0; length < 1200; length++) {
            byte[] plain = bytes(length);
            ByteBuf data = buffer(direct, plain);
            boxes.seal(COUNT, data, 3 + MAC, length);
            assertThat(content(data, 3)).as("of %d bytes", length).isEqualTo(expected(plain));
            assertThat(boxes.open(COUNT, data, 3 + MAC, length)).isTrue();
            assertThat(content(data, 3 + MAC)).isEqualTo(plain);
            data.release();
        }
    }

    @ParameterizedTest(name = "direct: {0}")
    @ValueSource(booleans = {true, false})
    void boxesOfEveryLengthOpenInParts(boolean direct) {
        for (int length = 0; length < 600; length++) {
            byte[] plain = bytes(length);
            ByteBuf data = buffer(direct, plain);
            boxes.seal(COUNT, data, 3 + MAC, length);
            boxes.begin(COUNT);
            for (int part = random.nextInt(100); part < length; part += random.nextInt(100)) {
                boxes.openPart(data, 3 + MAC, part);
            }
            assertThat(boxes.open(data, 3 + MAC, length))
                    .as("of %d bytes", length)
                    .isTrue();
            assertThat(content(data, 3 + MAC)).isEqualTo(plain);
            data.release();
        }
    }

    @Test
    void aBoxWithAnyByteChangedDoesNotOpen() {
        byte[] plain = bytes(100);
        ByteBuf data = buffer(true, plain);
        boxes.seal(COUNT, data, 3 + MAC, plain.length);
        byte[] sealed = content(data, 0);
        for (int i = 3; i < sealed.length; i++) {
            data.setByte(i, sealed[i] ^ 1 << i % 8);
            byte[] before = content(data, 0);
            assertThat(boxes.open(COUNT, data, 3 + MAC, plain.length)).isFalse();
            assertThat(content(data, 0)).as("byte %d", i).isEqualTo(before);
            data.setByte(i, sealed[i]);
        }
        assertThat(boxes.open(COUNT, data, 3 + MAC, plain.length)).isTrue();
        data.release();
    }

    @Test
    void aBoxOpensOnlyWithItsOwnNonceAndKey() {
        ByteBuf data = buffer(false, bytes(10));
        boxes.seal(COUNT, data, 3 + MAC, 10);
        assertThat(boxes.open(COUNT + 1, data, 3 + MAC, 10)).isFalse();
        assertThat(boxes.open(COUNT + (1L << 32), data, 3 + MAC, 10)).isFalse();
        byte[] otherPrefix = Arrays.copyOf(prefix, prefix.length);
        otherPrefix[15] ^= 1;
        assertThat(new SecretBox(key, otherPrefix).open(COUNT, data, 3 + MAC, 10))
                .isFalse();
        byte[] otherKey = Arrays.copyOf(key, key.length);
        otherKey[31] ^= 1;
        assertThat(new SecretBox(otherKey, prefix).open(COUNT, data, 3 + MAC, 10))
                .isFalse();
        assertThat(boxes.open(COUNT, data, 3 + MAC, 10)).isTrue();
        data.release();
    }

    @Test
    void aWipedKeySealsNothing() {
        ByteBuf data = buffer(false, bytes(10));
        boxes.wipe();
        assertThatThrownBy(() -> boxes.seal(COUNT, data, 3 + MAC, 10)).hasMessage("key: wiped (expected: in use)");
        assertThatThrownBy(() -> boxes.open(COUNT, data, 3 + MAC, 10)).hasMessage("key: wiped (expected: in use)");
        data.release();
    }
}
