package dev.zmtp.codec;

import static dev.zmtp.ZMTPSocketType.PULL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.HeapMeter;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a connection keeps on the heap that has shaken hands, and on which nothing was sent yet. */
@Tag("heap")
class IdleMemoryTest {

    private static final int CONNECTIONS = 2_000;

    @Test
    void anIdleConnectionKeepsLittle() {
        long without = perConnection(ScriptedPeer::new);
        long with = perConnection(() -> {
            // The shared budget would keep the connections, which nobody closes here.
            ZMTPMemoryBudget budget = ZMTPMemoryBudget.of(1 << 30);
            return InTraffic.as(PULL).set(codec -> codec.memoryBudget(budget)).start();
        });
        // 500 of it are a config and a budget, which connections share elsewhere.
        assertThat(with - without).isLessThan(2_450);
    }

    private static long perConnection(Supplier<ScriptedPeer> connection) {
        return HeapMeter.measure(() -> IntStream.range(0, CONNECTIONS)
                        .mapToObj(i -> connection.get())
                        .toArray())
                / CONNECTIONS;
    }
}
