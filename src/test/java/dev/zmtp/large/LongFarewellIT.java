package dev.zmtp.large;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A socket that has given away all its jobs and closes, long before its receiver has worked on them. */
@Tag("slow")
@Tag("large")
class LongFarewellIT {

    private static final int JOBS = Size.of(12_000, 60_000);
    private static final int PER_TENTH_OF_A_SECOND = Size.of(200, 100);

    private static final Duration INTERVAL = Size.of(Duration.ofMillis(500), Duration.ofSeconds(30));

    private static ZMTPSocket open(TestSockets sockets, ZMTPSocketType type) {
        ZMTPSocketConfig.Builder defaults = sockets.builder(type);
        ZMTPSocketConfig.Builder hasty = sockets.builder(type)
                .codec(codec -> codec.heartbeatInterval(INTERVAL).heartbeatTimeout(Size.PATIENCE));
        return sockets.open(Size.of(hasty, defaults));
    }

    @Test
    void allJobsArriveThoughTheirSenderHasClosed(TestSockets sockets) throws InterruptedException {
        List<String> jobs =
                IntStream.range(0, JOBS).mapToObj(i -> "job number " + i).toList();
        ZMTPSocket push = open(sockets, PUSH);
        ZMTPSocket pull = open(sockets, PULL);
        connect(pull, bind(push, "tcp://127.0.0.1:*"));
        Thread.sleep(INTERVAL.plusMillis(500).toMillis()); // a PULL that has had a PING goes on sending them
        long start = System.nanoTime();
        for (String job : jobs) {
            push.send(message(job));
        }
        CompletableFuture<?> end = push.closeAsync(Size.PATIENCE);

        List<String> done = new ArrayList<>();
        ZMTPMessage next = pull.receive(TestSockets.PATIENCE);
        while (next != null) {
            done.addAll(TestSockets.frames(next));
            if (done.size() % PER_TENTH_OF_A_SECOND == 0) {
                Thread.sleep(100);
            }
            next = done.size() == JOBS ? null : pull.receive(Duration.ofSeconds(5));
        }

        assertThat(done.size()).isEqualTo(JOBS);
        assertThat(done).isEqualTo(jobs);
        end.join();
        Size.report(start, "%,d of %,d jobs done after the end of their sender".formatted(done.size(), JOBS));
    }
}
