package dev.zmtp.internal.socket;

import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPStats;
import dev.zmtp.test.ZMTPTestLoop;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A message that its sender has released, too: it is nobody else's fault, and nobody else misses anything for it. */
@Tag("netty-4.2-only")
class ReleasedMessagesTest {

    private static final String NOBODY = "inproc://nobody";
    private static final Duration SOON = Duration.ofMillis(50);

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();

    @AfterEach
    void close() {
        loop.close();
    }

    private ZMTPSocket connected(ZMTPSocketType type) {
        ZMTPSocket socket = loop.open(ZMTPSocketConfig.builder(type));
        socket.connect(NOBODY);
        loop.run();
        return socket;
    }

    private void assertCloses(ZMTPSocket socket, CompletableFuture<?>... results) {
        CompletableFuture<ZMTPStats> closed = socket.closeAsync(SOON);
        loop.advance(SOON.multipliedBy(2));
        assertThat(closed).isCompleted();
        assertThat(results).allMatch(CompletableFuture::isDone);
    }

    @ParameterizedTest
    @EnumSource(names = {"PUSH", "DEALER", "PAIR"})
    void inAQueueItKeepsNothingFromEnding(ZMTPSocketType type) {
        ZMTPSocket socket = connected(type);
        ZMTPMessage released = message("once too often");
        CompletableFuture<Void> sent = socket.sendAsync(released);
        CompletableFuture<Void> next = socket.sendAsync(message("next"));

        released.release();

        assertCloses(socket, sent, next);
    }

    @Test
    void asARequestItKeepsNothingFromEnding() {
        ZMTPSocket dealer = connected(ZMTPSocketType.DEALER);
        ZMTPMessage released = message("?");
        CompletableFuture<ZMTPMessage> asked = dealer.requestAsync(released, Duration.ofDays(1));
        CompletableFuture<ZMTPMessage> next = dealer.requestAsync(message("next"), Duration.ofDays(1));

        released.release();

        assertCloses(dealer, asked, next);
    }
}
