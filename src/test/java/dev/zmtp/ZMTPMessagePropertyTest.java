package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What a message wrote, in any version, is read as an equal message. */
class ZMTPMessagePropertyTest {

    private static final int[] LENGTHS = {0, 1, 2, 252, 253, 254, 255, 256, 257, 1000, 65535, 65536, 70_000};

    private static Stream<Arguments> seedsInEachVersion() {
        return Arrays.stream(ZMTPVersion.values())
                .flatMap(version -> LongStream.range(0, 50).mapToObj(seed -> Arguments.of(version, seed)));
    }

    @ParameterizedTest(name = "{0}, seed {1}")
    @MethodSource("seedsInEachVersion")
    void readIsTheInverseOfWrite(ZMTPVersion version, long seed) {
        Random random = new Random(seed);
        List<ZMTPMessage> messages = new ArrayList<>();
        ByteBuf stream = ByteBufAllocator.DEFAULT.buffer();
        for (int i = 0; i < 5; i++) {
            ZMTPMessage message = message(random);
            message.write(stream, version);
            messages.add(message);
        }

        for (ZMTPMessage message : messages) {
            ZMTPMessage read = ZMTPMessage.read(stream, version);
            assertThat(read).as("seed %d", seed).isEqualTo(message);
            read.release();
            message.release();
        }
        assertThat(stream.isReadable()).as("seed %d", seed).isFalse();
        stream.release();
    }

    private static ZMTPMessage message(Random random) {
        List<ByteBuf> frames = new ArrayList<>();
        for (int i = 0, size = 1 + random.nextInt(6); i < size; i++) {
            byte[] bytes = new byte[LENGTHS[random.nextInt(LENGTHS.length)]];
            random.nextBytes(bytes);
            frames.add(ByteBufAllocator.DEFAULT.buffer().writeBytes(bytes));
        }
        return ZMTPMessage.from(frames);
    }
}
