package dev.zmtp.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** The lines of a comparison that runs. */
class CellProgressTest {

    private final StringWriter out = new StringWriter();
    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 3);
    private final CellProgress progress = new CellProgress(new PrintWriter(out), now::get);

    @Test
    void howFarItIsIsSaidOnceInFiveSeconds() {
        for (int second = 0; second < 13; second++) {
            progress.at("second " + second);
            now.addAndGet(1_000_000_000);
        }

        assertThat(out.toString().lines()).containsExactly("second 5", "second 10");
    }

    @Test
    void aResultIsAlwaysPrinted() {
        progress.result("one");
        progress.result("two");

        assertThat(out.toString().lines()).containsExactly("one", "two");
    }
}
