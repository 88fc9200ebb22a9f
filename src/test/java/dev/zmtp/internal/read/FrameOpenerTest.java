package dev.zmtp.internal.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.internal.wire.FrameReader;
import dev.zmtp.security.ZMTPMechanism.FrameCipher;
import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A large sealed frame is opened as it arrives, so that no read takes much longer than its own bytes do. */
class FrameOpenerTest {

    private static final int LENGTH = 1_000_000;

    /** Up to which byte the frame was to be opened, each time. */
    private final List<Integer> parts = new ArrayList<>();

    /** Opens a frame only when it is complete. */
    private class Whole implements FrameCipher {
        @Override
        public int sealedLength(int length) {
            return length + 5;
        }

        @Override
        public void seal(int flags, ByteBuf body, ByteBuf out) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int open(ByteBuf sealed) {
            parts.add(sealed.readableBytes());
            return 0;
        }
    }

    private final FrameCipher cipher = new Whole() {
        @Override
        public void openPart(ByteBuf sealed, int length) {
            assertThat(length).isLessThanOrEqualTo(sealed.readableBytes());
            parts.add(length);
        }
    };

    private final FrameReader reader = new FrameReader(ZMTPVersion.ZMTP31, bytes -> {});
    private final FrameOpener opener = new FrameOpener(cipher, ByteBufAllocator.DEFAULT);

    /** The frame arrives in reads of this many bytes. */
    private void receive(int read) {
        reader.readHeader(Unpooled.wrappedBuffer(Hex.bytes("02 %016x".formatted(LENGTH))));
        for (int arrived = 0; arrived < LENGTH; arrived += read) {
            int count = Math.min(read, LENGTH - arrived);
            ByteBuf in = ByteBufAllocator.DEFAULT.buffer().writeZero(count);
            ByteBuf body = reader.readBody(in, ByteBufAllocator.DEFAULT);
            if (body == null) {
                opener.arrived(reader, count);
            } else {
                opener.open(body);
                body.release();
            }
            in.release();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1_000, 65_536, 300_000, 499_999})
    void noReadOpensMoreThanTwiceItsBytes(int read) {
        receive(read);
        assertThat(parts).last().isEqualTo(LENGTH);
        for (int i = 0; i < parts.size(); i++) {
            int before = i == 0 ? 0 : parts.get(i - 1);
            assertThat(parts.get(i) - before).isBetween(0, 2 * read);
        }
    }

    @Test
    void theNextFrameBeginsAtItsBeginning() {
        receive(250_000);
        List<Integer> first = List.copyOf(parts);
        parts.clear();
        receive(250_000);
        assertThat(parts).isEqualTo(first).containsExactly(500_000, 750_000, 1_000_000);
    }

    @Test
    void aFrameThatArrivesAtOnceIsOpenedAtOnce() {
        receive(LENGTH);
        assertThat(parts).containsExactly(LENGTH);
    }

    @Test
    void aCipherNeedNotOpenParts() {
        ByteBuf body = Unpooled.wrappedBuffer(new byte[10]);
        new Whole().openPart(body, 5);
        assertThat(body).isEqualTo(Unpooled.wrappedBuffer(new byte[10]));
    }
}
