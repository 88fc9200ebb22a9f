package dev.zmtp.internal.socket.peer;

import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.StoppedPull;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.TestTransport;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Peers that answer no PING for a while, with heartbeats that are much shorter: over TCP, in real time. */
class LivePeersTest {

    private static final Duration INTERVAL = Duration.ofMillis(200);
    private static final Duration TIMEOUT = Duration.ofMillis(300);

    /** How often the slow one reads. */
    private static final Duration STEP = Duration.ofMillis(100);

    private static final int BYTES_PER_STEP = 100;

    /** More than interval and timeout twice. */
    private static final int STEPS = 11;

    private static TestSockets over(TestTransport transport) {
        assumeTrue(transport.isRequired() || transport.refusal() == null);
        return new TestSockets(new EventLoops(transport.kit(1).group()));
    }

    private static ZMTPSocket push(TestSockets sockets, TestTransport transport) {
        TestTransport.Kit kit = transport.kit(1);
        kit.group().shutdownGracefully(0, 0, TimeUnit.SECONDS); // only its channels are of use here
        return sockets.open(sockets.builder(PUSH)
                .tcpChannels(kit.channel(), kit.server())
                .codec(codec -> codec.heartbeatInterval(INTERVAL).heartbeatTimeout(TIMEOUT)));
    }

    /** As libzmq's PULL with a slow worker: what arrives next, our PING among it, waits until that is done. */
    @Tag("netty-4.2-only")
    @ParameterizedTest
    @EnumSource(names = {"NIO", "EPOLL", "IO_URING"})
    void peersThatReadLittleOrNothingAreAlive(TestTransport transport) throws Exception {
        try (TestSockets sockets = over(transport);
                StoppedPull pull = new StoppedPull(1)) {
            ZMTPSocket toSlow = push(sockets, transport);
            ZMTPSocket toStuck = push(sockets, transport);
            TestSockets.Events ofSlow = TestSockets.events(toSlow);
            TestSockets.Events ofStuck = TestSockets.events(toStuck);
            toSlow.connect(pull.endpoint());
            fill(toSlow); // now, so that there is much before the first PING
            try (Socket slow = pull.accept()) {
                toStuck.connect(pull.endpoint());
                fill(toStuck);
                try (Socket stuck = pull.accept()) {
                    get(toSlow.whenPeers(1));
                    get(toStuck.whenPeers(1));
                    for (int i = 0; i < STEPS; i++) {
                        fill(toSlow);
                        fill(toStuck);
                        slow.getInputStream().readNBytes(BYTES_PER_STEP);
                        pause(sockets);
                    }
                    assertThat(ofSlow.drain()).noneMatch(ZMTPSocketEvent.PeerDown.class::isInstance);
                    assertThat(ofStuck.drain()).noneMatch(ZMTPSocketEvent.PeerDown.class::isInstance);
                    assertThat(stuck.isClosed()).isFalse();
                }
            }
        }
    }

    private static void fill(ZMTPSocket push) {
        ZMTPMessage job = message("job");
        while (push.trySend(job)) {
            job = message("job".repeat(100));
        }
        job.release();
    }

    private static void pause(TestSockets sockets) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        sockets.group().schedule(() -> over.complete(null), STEP.toMillis(), TimeUnit.MILLISECONDS);
        get(over);
    }

    /** Its kernel lives, as that of a process that was stopped. */
    @Tag("netty-4.2-only")
    @ParameterizedTest
    @EnumSource(names = {"NIO", "EPOLL", "IO_URING"})
    void aPeerThatHasNothingToReadAndDoesNotAnswerIsDead(TestTransport transport) throws Exception {
        try (TestSockets sockets = over(transport);
                StoppedPull pull = new StoppedPull(1)) {
            ZMTPSocket push = push(sockets, transport);
            TestSockets.Events events = TestSockets.events(push);
            push.connect(pull.endpoint());
            try (Socket peer = pull.accept()) {
                get(push.sendAsync(message("little")));
                assertThat(events.next(ZMTPSocketEvent.PeerDown.class).cause())
                        .hasMessageContaining("300 ms after our PING")
                        .asInstanceOf(type(ZMTPException.class))
                        .extracting(ZMTPException::code)
                        .isEqualTo(ZMTPException.Code.HEARTBEAT_TIMEOUT);
                assertThat(peer.isClosed()).isFalse();
            }
        }
    }
}
