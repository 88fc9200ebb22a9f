package dev.zmtp.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPVersion;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Any frames, cut in any way, come out as they went in. */
@Tag("netty-4.2-only") // long, and the same with any version of Netty
class FrameReaderPropertyTest {

    private static final int[] LENGTHS = {0, 1, 2, 252, 253, 254, 255, 256, 257, 4095, 4096, 4097, 9000};

    private static Stream<Arguments> seedsInEachVersion() {
        return Arrays.stream(ZMTPVersion.values())
                .flatMap(version -> LongStream.range(0, 50).mapToObj(seed -> Arguments.of(version, seed)));
    }

    @ParameterizedTest(name = "{0}, seed {1}")
    @MethodSource("seedsInEachVersion")
    void anyChunksGiveTheSameFrames(ZMTPVersion version, long seed) {
        Random random = new Random(seed);
        List<String> frames = new ArrayList<>();
        ByteBuf stream = ByteBufAllocator.DEFAULT.buffer();
        for (int i = 0; i < 20; i++) {
            frames.add(write(stream, version, random));
        }

        List<String> read = new ArrayList<>();
        FrameReader reader = new FrameReader(version, reserved -> {});
        int longest = 1 << random.nextInt(14);
        while (stream.isReadable()) {
            int chunk = Math.min(random.nextInt(longest + 1), stream.readableBytes());
            ByteBuf in = stream.readRetainedSlice(chunk);
            while (reader.readHeader(in)) {
                ByteBuf body = reader.readBody(in, ByteBufAllocator.DEFAULT);
                if (body == null) {
                    break;
                }
                read.add(show(reader.flags(), body));
                body.release();
            }
            assertThat(in.isReadable()).as("seed %d", seed).isFalse();
            in.release();
        }
        reader.close();
        stream.release();

        assertThat(read).as("seed %d", seed).isEqualTo(frames);
    }

    private static String write(ByteBuf stream, ZMTPVersion version, Random random) {
        byte[] bytes = new byte[LENGTHS[random.nextInt(LENGTHS.length)]];
        random.nextBytes(bytes);
        int[] flags = version.hasCommands()
                ? new int[] {0, ZMTPFraming.MORE, ZMTPFraming.COMMAND}
                : new int[] {0, ZMTPFraming.MORE};
        int flag = flags[random.nextInt(flags.length)];
        if (random.nextInt(4) == 0) {
            version.framing().writeLongHeader(stream, flag, bytes.length);
        } else {
            version.framing().writeHeader(stream, flag, bytes.length);
        }
        int start = stream.writerIndex();
        stream.writeBytes(bytes);
        return show(flag, stream.slice(start, bytes.length));
    }

    private static String show(int flags, ByteBuf body) {
        return flags + ":" + ByteBufUtil.hexDump(body);
    }
}
