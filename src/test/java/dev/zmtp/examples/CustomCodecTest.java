package dev.zmtp.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.codec.ZMTPEncoder;
import dev.zmtp.codec.ZMTPEstimator;
import dev.zmtp.codec.ZMTPWriter;
import dev.zmtp.examples.CustomCodec.Reading;
import dev.zmtp.examples.CustomCodec.ReadingEncoder;
import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How a program tests an encoder of its own without a channel. */
class CustomCodecTest {

    private final ZMTPEncoder encoder = new ReadingEncoder();

    /** A writer whose frames are kept apart, with what was said of each last. */
    private static final class Frames implements ZMTPWriter {
        private final List<ByteBuf> bodies = new ArrayList<>();
        private final List<String> headers = new ArrayList<>();

        @Override
        public ByteBuf frame(int size, boolean more) {
            headers.add(size + (more ? " more" : " last"));
            bodies.add(Unpooled.buffer(size, size)); // a body that is longer than it says fails
            return bodies.get(bodies.size() - 1);
        }

        @Override
        public ByteBuf reframe(int size, boolean more) {
            headers.set(headers.size() - 1, size + (more ? " more" : " last"));
            return bodies.get(bodies.size() - 1);
        }
    }

    /** An estimator that keeps each size. */
    private static final class Sizes implements ZMTPEstimator {
        private final List<Integer> sizes = new ArrayList<>();

        @Override
        public void reset() {
            sizes.clear();
        }

        @Override
        public void frame(int size) {
            sizes.add(size);
        }

        @Override
        public int size() {
            return sizes.stream().mapToInt(size -> size).sum();
        }
    }

    @Test
    void aReadingIsAPlaceAndADouble() {
        Frames frames = new Frames();
        encoder.encode(new Reading("Malmö", 1), frames);
        assertThat(frames.headers).containsExactly("6 more", "8 last");
        assertThat(frames.bodies).map(Hex::dump).containsExactly(Hex.of("4d 61 6c 6d c3 b6"), Hex.of("3f f0 00*6"));
    }

    @Test
    void theEstimateIsNotLessThanWhatIsWritten() {
        Sizes estimated = new Sizes();
        encoder.estimate(new Reading("Malmö", 1), estimated);
        assertThat(estimated.sizes).hasSize(2);
        assertThat(estimated.sizes.get(0)).isGreaterThanOrEqualTo(6);
        assertThat(estimated.sizes.get(1)).isEqualTo(8);
    }
}
