package dev.zmtp.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.EventLoops;
import io.netty.channel.EventLoopGroup;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The encoder and the decoder that are given by class, run on loopback. */
class ReadingTest {

    private final EventLoopGroup group = EventLoops.newGroup(2);

    @AfterEach
    void shutDown() {
        group.shutdownGracefully(0, 10, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @ParameterizedTest(name = "{0} with {2} samples")
    @CsvSource({
        "boiler, C, 1", // short frames
        "kühlhaus-nord-östlich, '', 0", // an estimate that is corrected; frames without bytes
        "tower, mm, 1000000", // a frame that arrives in many pieces, cut within samples
    })
    void theDecoderReadsWhatTheEncoderWrites(String sensor, String unit, long samples) throws Exception {
        ReadingPipe pipe = new ReadingPipe(group);
        Reading sent = new Reading(sensor, unit, samples, samples * (samples - 1) / 2);

        pipe.send(sent);
        pipe.send(sent);

        assertThat(pipe.received.poll(30, TimeUnit.SECONDS)).isEqualTo(sent);
        assertThat(pipe.received.poll(30, TimeUnit.SECONDS)).isEqualTo(sent);
        pipe.close();
    }

    @ParameterizedTest(name = "a name of {0} characters")
    @CsvSource({"84", "85", "86", "300"})
    void aNameMayBeMuchShorterThanItsEstimate(int length) throws Exception {
        ReadingPipe pipe = new ReadingPipe(group);
        Reading sent = new Reading("n".repeat(length), "K", 2, 1);

        pipe.send(sent);

        assertThat(pipe.received.poll(30, TimeUnit.SECONDS)).isEqualTo(sent);
        pipe.close();
    }
}
