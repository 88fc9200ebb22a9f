package dev.zmtp.shm;

import static dev.zmtp.shm.ChannelEnds.queuedTurns;
import static dev.zmtp.shm.ChannelEnds.settle;
import static dev.zmtp.shm.ChannelEnds.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.Hex;
import io.netty.channel.ChannelPromise;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a channel moves in a turn. */
@Timeout(60)
class RingTrafficTest {

    @TempDir
    Path directory;

    /** The loop has to serve others too, and a peer that reads at the same time always makes room. */
    @ParameterizedTest
    @ValueSource(ints = {16, 1_000})
    void whoWritesTheNextBufferWhenTheLastOneIsWrittenDoesSoInSeveralTasks(int writes) throws Exception {
        try (ChannelEnds ends = new ChannelEnds(directory)) {
            ends.server().bind(ends.address).sync();
            SharedMemoryChannel client = ends.connect();
            SharedMemoryChannel end = ends.accepted();
            end.config().setAutoRead(false);
            settle(end);
            AtomicInteger written = new AtomicInteger();

            int inOneTask = client.eventLoop()
                    .submit(() -> {
                        writeOn(client, written, writes);
                        return written.get();
                    })
                    .get();

            assertThat(inOneTask)
                    .isPositive()
                    .isLessThanOrEqualTo(client.config().getWriteSpinCount());
            until(() -> written.get() == writes);
            client.eventLoop().submit(client.traffic()::woken).sync();
            until(() -> queuedTurns(client) == 0); // nothing is left for one
        }
    }

    private static void writeOn(SharedMemoryChannel channel, AtomicInteger written, int writes) {
        if (written.get() < writes) {
            ChannelPromise promise = channel.newPromise(); // notified during the write, unlike a listener of its result
            promise.addListener(done -> {
                written.incrementAndGet();
                writeOn(channel, written, writes);
            });
            channel.writeAndFlush(Hex.buffer("01"), promise);
        }
    }
}
