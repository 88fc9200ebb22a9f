package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.Certificates;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.ChannelOption;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What was written before an end of this side arrives, also at a peer that reads slowly and goes on sending. */
class LastMessagesTest {

    private static final int MESSAGES = 5_000;
    private static final int SMALL = 8 << 10;
    private static final Duration LINGER = Duration.ofSeconds(20);
    private static final List<String> ALL =
            IntStream.range(0, MESSAGES).mapToObj(i -> "job " + i).toList();

    private static Certificates keys;

    @TempDir
    private Path dir;

    @BeforeAll
    static void makeKeys(@TempDir Path dir) throws Exception {
        keys = Certificates.make(dir, "keys");
    }

    private ZMTPSocketConfig.Builder slow(TestSockets sockets, String transport) throws Exception {
        ZMTPSocketConfig.Builder slow = sockets.builder(DEALER)
                .receiveQueueLimit(10, 1 << 20)
                .codec(c -> c.heartbeatInterval(Duration.ofMillis(10)).heartbeatTimeout(LINGER));
        return transport.equals("tls")
                ? slow.tls(SslContextBuilder.forServer(keys.keys())
                        .sslProvider(SslProvider.JDK)
                        .build())
                : slow;
    }

    private static ZMTPSocketConfig.Builder ending(TestSockets sockets, String transport) throws Exception {
        ZMTPSocketConfig.Builder ending =
                sockets.builder(DEALER).sendQueueLimit(MESSAGES, 1 << 20).linger(LINGER);
        return transport.equals("tls")
                ? ending.tls(SslContextBuilder.forClient()
                        .sslProvider(SslProvider.JDK)
                        .trustManager(keys.certificate())
                        .build())
                : ending;
    }

    private String endpoint(String transport) {
        return switch (transport) {
            case "tcp" -> "tcp://127.0.0.1:*";
            case "tls" -> "tcp://localhost:*";
            case "inproc" -> "inproc://last-messages";
            default -> transport + "://" + dir.resolve("s");
        };
    }

    /** Ends the side that has written all. */
    private interface End {
        void of(ZMTPSocket socket, ZMTPEndpoint connector) throws Exception;
    }

    private void assertAllArrives(TestSockets sockets, String transport, End end) throws Exception {
        ZMTPSocket slow = sockets.open(slow(sockets, transport));
        ZMTPSocket ending = sockets.open(ending(sockets, transport));
        ZMTPEndpoint connector = ending.connect(bind(slow, endpoint(transport)).replace("127.0.0.1", "localhost"));
        get(connector.readyFuture());
        CompletableFuture<List<String>> received = CompletableFuture.supplyAsync(() -> receiveSlowly(slow));
        List<CompletableFuture<Void>> written = new ArrayList<>();
        for (String job : ALL) {
            written.add(ending.sendAsync(message(job)));
        }
        get(CompletableFuture.allOf(written.toArray(CompletableFuture[]::new)));

        end.of(ending, connector);

        assertThat(get(received)).isEqualTo(ALL);
    }

    private static List<String> receiveSlowly(ZMTPSocket slow) {
        List<String> received = new ArrayList<>();
        try {
            while (received.size() < MESSAGES) {
                ZMTPMessage next = slow.receive(Duration.ofSeconds(1));
                if (next == null) {
                    break; // the rest is lost
                }
                received.addAll(TestSockets.frames(next));
                if (received.size() % 100 == 0) {
                    slow.sendOrDrop(message("more"));
                    Thread.sleep(5);
                }
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return received;
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "tls", "ipc", "shm", "inproc"})
    void whatASocketHasWrittenBeforeItsCloseArrives(String transport, TestSockets sockets) throws Exception {
        assertAllArrives(sockets, transport, (socket, connector) -> socket.closeAsync(LINGER));
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "tls", "ipc", "shm", "inproc"})
    void whatWasWrittenBeforeTheCloseOfAnEndpointArrives(String transport, TestSockets sockets) throws Exception {
        assertAllArrives(sockets, transport, (socket, connector) -> connector.close());
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "tls", "ipc", "shm", "inproc"})
    void whatWasWrittenBeforeTheCloseOfAPeerArrives(String transport, TestSockets sockets) throws Exception {
        assertAllArrives(
                sockets,
                transport,
                (socket, connector) -> TestSockets.peerOf(connector).close());
    }

    /** The answers to its PINGs wait behind the last messages, and are not sent any more. */
    @Test
    void whatIsBeingWrittenAtTheCloseOfAPeerArrivesThoughItSendsPings(TestSockets sockets) throws Exception {
        ZMTPSocket slow = sockets.open(slow(sockets, "tcp").option(ChannelOption.SO_RCVBUF, SMALL));
        ZMTPSocket ending = sockets.open(ending(sockets, "tcp").option(ChannelOption.SO_SNDBUF, SMALL));
        ZMTPEndpoint connector = ending.connect(bind(slow, endpoint("tcp")));
        get(connector.readyFuture());
        CompletableFuture<List<String>> received = CompletableFuture.supplyAsync(() -> receiveSlowly(slow));
        ALL.forEach(job -> ending.sendOrDrop(message(job + " ".repeat(100))));
        await("some are written", () -> ending.stats().written() > MESSAGES / 20);

        TestSockets.peerOf(connector).close();

        assertThat(get(received).size())
                .isEqualTo((int) ending.stats().written())
                .isGreaterThan(MESSAGES / 20);
    }
}
