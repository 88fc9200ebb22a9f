package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPStats;
import dev.zmtp.testing.Blocking;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a socket does that was told nothing but its type. */
class SocketDefaultsTest {

    @Test
    void anIdentityLeavesTheHeartbeatsOn() {
        ZMTPSocketConfig config = ZMTPSocketConfig.builder(DEALER)
                .codec(c -> c.localIdentity("worker-1"))
                .build();

        assertThat(config.codec().localIdentity().remaining()).isEqualTo(8);
        assertThat(config.codec().heartbeatInterval()).isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void itsTypeCannotBeChangedWithTheProtocol() {
        assertThatThrownBy(() -> ZMTPSocketConfig.builder(DEALER).codec(c -> c.socketType(PULL)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("socketType: PULL (expected: DEALER)");
    }

    @Test
    void theFutureOfTheEndTellsOfItAndDoesNotBringItAbout(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        CompletableFuture<ZMTPStats> end = push.closeFuture();
        TestSockets.connect(push, TestSockets.bind(pull, "inproc://end"));
        TestSockets.get(push.sendAsync(TestSockets.message("still open")));
        assertThat(end).isNotDone();

        ZMTPStats stats = TestSockets.get(push.closeAsync(Duration.ZERO));

        assertThat(TestSockets.get(end)).isEqualTo(stats);
    }

    @Test
    void aMessageMayBeSentAtOnceAfterConnect() throws Exception {
        try (EventLoops loops = new EventLoops(1);
                ZMTPSocket push = ZMTPSocket.of(
                        ZMTPSocketConfig.builder(PUSH).group(loops.group()).build())) {
            CountDownLatch tried = new CountDownLatch(1);
            block(loops, tried); // the event loop knows nothing of the connector yet
            push.connect("inproc://nobody-is-bound-here");
            ZMTPMessage message = ZMTPMessage.fromUTF8("hello");
            boolean taken = push.trySend(message);
            if (!taken) {
                message.release();
            }
            tried.countDown();

            assertThat(taken).isTrue();
            assertThat(push.closeAsync(Duration.ZERO).get(30, TimeUnit.SECONDS).dropped())
                    .isEqualTo(1);
        }
    }

    @Test
    void whatIsSentAtOnceAfterConnectLeavesAlsoIfTheSocketIsThenClosed() throws Exception {
        try (EventLoops loops = new EventLoops(1);
                ZMTPSocket pull = ZMTPSocket.of(PULL);
                ZMTPSocket push = ZMTPSocket.of(
                        ZMTPSocketConfig.builder(PUSH).group(loops.group()).build())) {
            String endpoint = pull.bind("tcp://127.0.0.1:*")
                    .readyFuture()
                    .get(30, TimeUnit.SECONDS)
                    .text();
            CountDownLatch closing = new CountDownLatch(1);
            block(loops, closing); // the event loop knows nothing of the connector yet
            push.connect(endpoint);
            push.sendAsync(ZMTPMessage.fromUTF8("hello"));
            CompletableFuture<ZMTPStats> closed = push.closeAsync(Duration.ofSeconds(30));
            closing.countDown();

            ZMTPMessage received = pull.receiveAsync().get(30, TimeUnit.SECONDS);
            assertThat(received.toString()).isEqualTo("ZMTPMessage{[\"hello\"]}");
            received.release();
            assertThat(closed.get(30, TimeUnit.SECONDS).dropped()).isZero();
            pull.closeAsync(Duration.ZERO).get(30, TimeUnit.SECONDS);
        }
    }

    private static void block(EventLoops loops, CountDownLatch until) {
        loops.group().next().execute(() -> {
            try {
                Blocking.allow(until::await);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    @Test
    void aMessageMayBeSentAtOnceAfterConnectOnTheEventLoop() throws Exception {
        try (EventLoops loops = new EventLoops(1);
                ZMTPSocket push = ZMTPSocket.of(
                        ZMTPSocketConfig.builder(PUSH).group(loops.group()).build())) {
            boolean taken = loops.group()
                    .next()
                    .submit(() -> {
                        push.connect("inproc://nobody-is-bound-here");
                        ZMTPMessage message = ZMTPMessage.fromUTF8("hello");
                        boolean done = push.trySend(message);
                        if (!done) {
                            message.release();
                        }
                        return done;
                    })
                    .get(30, TimeUnit.SECONDS);

            assertThat(taken).isTrue();
            assertThat(push.closeAsync(Duration.ZERO).get(30, TimeUnit.SECONDS).dropped())
                    .isEqualTo(1);
        }
    }

    /** Its close waits, so a program whose last line closes a socket ends after its messages have left. */
    @Test
    void theSharedLoopsAreDaemonsAndACloseWaits() throws Exception {
        CompletableFuture<Boolean> daemon = new CompletableFuture<>();
        try (ZMTPSocket pull = ZMTPSocket.of(PULL)) {
            pull.onMessage((from, message) -> {
                message.release();
                daemon.complete(Thread.currentThread().isDaemon());
            });
            ZMTPSocket push = ZMTPSocket.of(PUSH);
            push.connect(pull.bind("tcp://127.0.0.1:*").sync().text());
            push.sendOrDrop(ZMTPMessage.fromUTF8("hello"));

            push.close();

            assertThat(push.closeFuture().getNow(null).written()).isEqualTo(1);
            assertThat(daemon.get(30, TimeUnit.SECONDS)).isTrue();
        }
    }
}
