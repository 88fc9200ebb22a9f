package dev.zmtp.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.util.IllegalReferenceCountException;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.bouncycastle.crypto.engines.XSalsa20Engine;
import org.bouncycastle.crypto.macs.Poly1305;
import org.bouncycastle.crypto.params.KeyParameter;
import org.bouncycastle.crypto.params.ParametersWithIV;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Boxes of every length, in buffers of every kind, next to those of another implementation of the same primitives. */
@ParameterizedClass
@MethodSource("dev.zmtp.security.CurveLibraries#all")
class SecretBoxTest {

    private static final int MAC = SecretBox.MAC_LENGTH;
    private static final long COUNT = 0x0102_0304_0506_0708L;

    /** A kind of buffer. */
    enum Kind {
        HEAP,
        DIRECT,
        /** With neither an array nor an address. */
        COMPOSITE;

        ByteBuf buffer(int length) {
            ByteBufAllocator alloc = ByteBufAllocator.DEFAULT;
            return switch (this) {
                case HEAP -> alloc.heapBuffer(length);
                case DIRECT -> alloc.directBuffer(length);
                case COMPOSITE -> composite(alloc, length);
            };
        }

        private static ByteBuf composite(ByteBufAllocator alloc, int length) {
            CompositeByteBuf parts = alloc.compositeDirectBuffer();
            parts.addComponent(alloc.directBuffer(25).writeZero(25).setIndex(0, 25));
            parts.addComponent(alloc.directBuffer(length).writeZero(length).setIndex(0, length));
            return parts;
        }
    }

    private final Random random = new Random(26);
    private final byte[] key = bytes(SecretBox.KEY_LENGTH);
    private final byte[] prefix = bytes(SecretBox.PREFIX_LENGTH);
    private final CurvePrimitives primitives;
    private final SecretBox boxes;

    SecretBoxTest(CurvePrimitives primitives) {
        this.primitives = primitives;
        boxes = new SecretBox(primitives, key, prefix);
    }

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

    /** A buffer with room for a MAC before {@code plain}, which begins where nothing is aligned. */
    private static ByteBuf buffer(Kind kind, byte[] plain) {
        return kind.buffer(3 + MAC + plain.length).clear().writeZero(3 + MAC).writeBytes(plain);
    }

    private static byte[] content(ByteBuf data, int index) {
        byte[] bytes = new byte[data.writerIndex() - index];
        data.getBytes(index, bytes);
        return bytes;
    }

    /** All short ones, and those after which an implementation may begin with another piece. */
    private static IntStream lengths(int all) {
        return IntStream.concat(
                IntStream.range(0, all),
                IntStream.of(2016, 2017, 2047, 2048, 2049, 4095, 4096, 4097, 4127, 4128, 4129, 8224, 8225, 70_000));
    }

    @ParameterizedTest
    @EnumSource
    void boxesOfEveryLengthEqualThoseOfNaCl(Kind kind) {
        lengths(1200).forEach(length -> {
            byte[] plain = bytes(length);
            ByteBuf data = buffer(kind, plain);
            boxes.seal(COUNT, data, 3 + MAC, length);
            assertThat(content(data, 3)).as("of %d bytes", length).isEqualTo(expected(plain));
            assertThat(boxes.open(COUNT, data, 3 + MAC, length)).isTrue();
            assertThat(content(data, 3 + MAC)).isEqualTo(plain);
            data.release();
        });
    }

    @ParameterizedTest
    @EnumSource
    void boxesOfEveryLengthOpenInParts(Kind kind) {
        lengths(600).forEach(length -> {
            byte[] plain = bytes(length);
            ByteBuf data = buffer(kind, plain);
            boxes.seal(COUNT, data, 3 + MAC, length);
            boxes.begin(COUNT);
            int most = 100 + length / 10;
            for (int part = random.nextInt(most); part < length; part += random.nextInt(most)) {
                boxes.openPart(data, 3 + MAC, part);
            }
            assertThat(boxes.open(data, 3 + MAC, length))
                    .as("of %d bytes", length)
                    .isTrue();
            assertThat(content(data, 3 + MAC)).isEqualTo(plain);
            data.release();
        });
    }

    /** Connections of one event loop take turns. */
    @Test
    void twoBoxesOpenInPartsByTurns() {
        byte[] plain = bytes(5000);
        SecretBox[] openers = {new SecretBox(primitives, key, prefix), new SecretBox(primitives, key, prefix)};
        ByteBuf[] data = {buffer(Kind.DIRECT, plain), buffer(Kind.DIRECT, plain)};
        for (int i = 0; i < 2; i++) {
            boxes.seal(COUNT + i, data[i], 3 + MAC, plain.length);
            openers[i].begin(COUNT + i);
        }
        ByteBuf between = buffer(Kind.HEAP, bytes(10));
        for (int part = 0; part < plain.length; part += 500) {
            openers[0].openPart(data[0], 3 + MAC, part);
            openers[1].openPart(data[1], 3 + MAC, part / 2);
            boxes.seal(COUNT, between, 3 + MAC, 10);
        }
        for (int i = 0; i < 2; i++) {
            assertThat(openers[i].open(data[i], 3 + MAC, plain.length)).isTrue();
            assertThat(content(data[i], 3 + MAC)).isEqualTo(plain);
            data[i].release();
        }
        between.release();
    }

    /** Nothing of a box belongs to a thread. */
    @Test
    void theNextPartOpensOnAnotherThread() {
        byte[] plain = bytes(1000);
        ByteBuf data = buffer(Kind.DIRECT, plain);
        boxes.seal(COUNT, data, 3 + MAC, plain.length);
        boxes.begin(COUNT);
        boxes.openPart(data, 3 + MAC, 500);
        CompletableFuture.runAsync(() -> boxes.openPart(data, 3 + MAC, 800)).join();
        assertThat(boxes.open(data, 3 + MAC, plain.length)).isTrue();
        assertThat(content(data, 3 + MAC)).isEqualTo(plain);
        data.release();
    }

    @Test
    void aBoxWithAnyByteChangedDoesNotOpen() {
        byte[] plain = bytes(100);
        ByteBuf data = buffer(Kind.DIRECT, plain);
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
        ByteBuf data = buffer(Kind.HEAP, bytes(10));
        boxes.seal(COUNT, data, 3 + MAC, 10);
        assertThat(boxes.open(COUNT + 1, data, 3 + MAC, 10)).isFalse();
        assertThat(boxes.open(COUNT + (1L << 32), data, 3 + MAC, 10)).isFalse();
        byte[] otherPrefix = Arrays.copyOf(prefix, prefix.length);
        otherPrefix[15] ^= 1;
        assertThat(new SecretBox(primitives, key, otherPrefix).open(COUNT, data, 3 + MAC, 10))
                .isFalse();
        byte[] otherKey = Arrays.copyOf(key, key.length);
        otherKey[31] ^= 1;
        assertThat(new SecretBox(primitives, otherKey, prefix).open(COUNT, data, 3 + MAC, 10))
                .isFalse();
        assertThat(boxes.open(COUNT, data, 3 + MAC, 10)).isTrue();
        data.release();
    }

    @ParameterizedTest
    @EnumSource
    void whatIsNotInTheBufferIsNeitherSealedNorOpened(Kind kind) {
        ByteBuf data = buffer(kind, bytes(100));
        int tooMany = data.capacity() - 3 - MAC + 1;
        assertThatThrownBy(() -> boxes.seal(COUNT, data, 3 + MAC, tooMany))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> boxes.open(COUNT, data, 3 + MAC, tooMany))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> boxes.seal(COUNT, data, -100, 100)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> boxes.open(COUNT, data, -100, 100)).isInstanceOf(IndexOutOfBoundsException.class);
        data.release();
    }

    @ParameterizedTest
    @EnumSource
    void aReleasedBufferIsNeitherSealedNorOpened(Kind kind) {
        ByteBuf data = buffer(kind, bytes(100));
        data.release();
        assertThatThrownBy(() -> boxes.seal(COUNT, data, 3 + MAC, 100))
                .isInstanceOf(IllegalReferenceCountException.class);
        assertThatThrownBy(() -> boxes.open(COUNT, data, 3 + MAC, 100))
                .isInstanceOf(IllegalReferenceCountException.class);
    }

    @ParameterizedTest
    @EnumSource
    void aReadOnlyBufferIsNotChanged(Kind kind) {
        ByteBuf data = buffer(kind, bytes(100));
        boxes.seal(COUNT, data, 3 + MAC, 100);
        byte[] before = content(data, 0);
        ByteBuf readOnly = data.asReadOnly();
        assertThatThrownBy(() -> boxes.open(COUNT, readOnly, 3 + MAC, 100)).isInstanceOf(ReadOnlyBufferException.class);
        assertThatThrownBy(() -> boxes.seal(COUNT, readOnly, 3 + MAC, 100)).isInstanceOf(ReadOnlyBufferException.class);
        assertThat(content(data, 0)).isEqualTo(before);
        data.release();
    }

    @ParameterizedTest
    @EnumSource
    void theRestOfABoxIsNotOpenedInAReadOnlyBuffer(Kind kind) {
        ByteBuf data = buffer(kind, bytes(1000));
        boxes.seal(COUNT, data, 3 + MAC, 1000);
        boxes.begin(COUNT);
        boxes.openPart(data, 3 + MAC, 500);
        byte[] before = content(data, 0);
        ByteBuf readOnly = data.asReadOnly();
        assertThatThrownBy(() -> boxes.open(readOnly, 3 + MAC, 1000)).isInstanceOf(ReadOnlyBufferException.class);
        assertThat(content(data, 0)).isEqualTo(before);
        data.release();
    }

    @Test
    void aWipedKeySealsNothing() {
        ByteBuf data = buffer(Kind.HEAP, bytes(10));
        boxes.wipe();
        assertThatThrownBy(() -> boxes.seal(COUNT, data, 3 + MAC, 10)).hasMessage("key: wiped (expected: in use)");
        assertThatThrownBy(() -> boxes.open(COUNT, data, 3 + MAC, 10)).hasMessage("key: wiped (expected: in use)");
        data.release();
    }

    @Test
    void aKeyCanBeWipedTwiceAndInTheMiddleOfABox() {
        ByteBuf data = buffer(Kind.DIRECT, bytes(1000));
        boxes.seal(COUNT, data, 3 + MAC, 1000);
        boxes.begin(COUNT);
        boxes.openPart(data, 3 + MAC, 500);
        boxes.wipe();
        boxes.wipe();
        assertThatThrownBy(() -> boxes.openPart(data, 3 + MAC, 800)).hasMessage("key: wiped (expected: in use)");
        data.release();
    }
}
