package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.metrics.ZMTPMetrics;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.JavaProcess;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the event loop of two sockets allocates for a message that handlers take, connection and codec included. In a
 * process of its own: the leak detector of the tests, and classes that another test mocks, make an object for each call.
 */
@Tag("netty-4.2-only") // the class path of another Netty is that of the test's own process
@Tag("java<24") // from there on Netty is without Unsafe, and copies from a direct buffer by way of a duplicate of it
class SocketAllocationTest {

    /** Less than the smallest object. A read or a flush allocates some, for many messages. */
    private static final double MOST = 12;

    @Tag("T83")
    @Tag("T104")
    @ParameterizedTest
    @ValueSource(strings = {"echo", "job", "job with meters", "echo over WebSocket", "job over WebSocket"})
    void aMessageMakesNoGarbage(String program) throws IOException, InterruptedException {
        List<String> options = List.of("-XX:+UseSerialGC", "-Dio.netty.leakDetection.level=disabled");
        try (JavaProcess process = new JavaProcess(JavaProcess.command(options, Program.class, program))) {
            assertThat(Double.parseDouble(process.line())).isLessThan(MOST);
        }
    }

    /** Prints the bytes that are allocated for each message. */
    static final class Program {

        private static final int WARM_UP = 200_000;
        private static final int MESSAGES = 200_000;
        private static final int ON_THE_WAY = 400; // less than a thread keeps for the next ones

        private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        private final CompletableFuture<Long> allocated = new CompletableFuture<>();
        private int received;
        private long before;

        private Program() {}

        /** Runs "echo", a DEALER and a ROUTER, or "job", a PUSH and a PULL, perhaps "with meters" or "over WebSocket". */
        public static void main(String... args) throws InterruptedException {
            EventLoopGroup loop = EventLoops.newGroup(1);
            boolean echo = args[0].startsWith("echo");
            String scheme = args[0].endsWith("WebSocket") ? "ws" : "tcp";
            try (ZMTPSocket binds = open(echo ? ROUTER : PULL, loop);
                    ZMTPSocket connects = open(echo ? DEALER : PUSH, loop)) {
                Program program = new Program();
                if (args[0].endsWith("meters")) {
                    ZMTPMetrics.of(connects, "connects").bindTo(new SimpleMeterRegistry());
                    ZMTPMetrics.of(binds, "binds").bindTo(new SimpleMeterRegistry());
                }
                if (echo) {
                    binds.onMessage((peer, message) -> peer.sendOrDrop(message));
                }
                (echo ? connects : binds).onMessage((peer, message) -> {
                    program.count();
                    connects.sendOrDrop(message); // the same again
                });
                connects.connect(binds.bind(scheme + "://127.0.0.1:*").sync().text())
                        .sync();
                for (int i = 0; i < ON_THE_WAY; i++) {
                    connects.sendOrDrop(ZMTPMessage.fromUTF8("a few bytes"));
                }
                System.out.println((double) program.allocated.join() / MESSAGES);
            }
            loop.shutdownGracefully();
        }

        private static ZMTPSocket open(ZMTPSocketType type, EventLoopGroup loop) {
            return ZMTPSocket.of(ZMTPSocketConfig.builder(type).group(loop).build());
        }

        /** On the event loop. */
        private void count() {
            received++;
            if (received == WARM_UP) {
                before = threads.getCurrentThreadAllocatedBytes();
            } else if (received == WARM_UP + MESSAGES) {
                allocated.complete(threads.getCurrentThreadAllocatedBytes() - before);
            }
        }
    }
}
