package dev.zmtp.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;

@Tag("slow")
class HeapMeterTest {

    /** Repeated, as a JVM that leaves garbage between objects that live still compacts everything each fourth time. */
    @RepeatedTest(4)
    void garbageBetweenWhatLivesIsNotMeasured() {
        long measured = HeapMeter.measure(() -> {
            byte[][] arrays = new byte[20_000][];
            Arrays.setAll(arrays, i -> new byte[1_000]);
            System.gc(); // moves them to where the JVM hardly expects garbage
            for (int i = 0; i < arrays.length; i += 25) {
                arrays[i] = null;
            }
            return arrays;
        });
        int alive = 20_000 - 20_000 / 25;
        assertThat(measured).isCloseTo(alive * 1_016L + 20_000 * 4 + 16, within(64L << 10));
    }
}
