package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.internal.transport.Transport;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.OtherThread;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a connector says and leaves behind, in virtual time. */
@Tag("netty-4.2-only")
class ConnectorTest {

    private static final String ENDPOINT = "test://connector";
    private static final Duration WAIT = Duration.ofMillis(100);

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final CapturedLog log = new CapturedLog("dev.zmtp.socket.ConnectLog");
    private final Queue<Runnable> lookups = new ArrayDeque<>();
    private final Watched watched = new Watched();
    private final List<ZMTPSocketEvent> events = new ArrayList<>();

    @AfterEach
    void close() {
        loop.close();
        log.close();
    }

    private ZMTPSocketConfig.Builder push() {
        return ClockedSockets.with(ZMTPSocketConfig.builder(PUSH), watched)
                .reconnectDelay(WAIT, WAIT)
                .linger(WAIT)
                .resolverExecutor(lookups::add);
    }

    private ZMTPSocket open(ZMTPSocketConfig.Builder config) {
        ZMTPSocket socket = loop.open(config);
        socket.onEvent(Runnable::run, events::add);
        return socket;
    }

    private ZMTPEndpoint connect(ZMTPSocket socket, String endpoint) {
        ZMTPEndpoint connector = socket.connect(endpoint);
        loop.run();
        return connector;
    }

    private ZMTPSocket bound() {
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL));
        pull.onMessage((from, message) -> message.release());
        pull.bind(ENDPOINT);
        loop.run();
        return pull;
    }

    @Test
    void aFailureIsLoggedAndSoIsTheConnectionAfterIt() {
        ZMTPEndpoint connector = connect(open(push()), ENDPOINT);
        assertThat(log.lines).singleElement().asString().startsWith(ENDPOINT).endsWith(", trying again");

        bound();
        connector.retryNow();
        loop.run();

        assertThat(connector.state()).isEqualTo(ZMTPEndpoint.State.UP);
        assertThat(log.lines).hasSize(2).endsWith(ENDPOINT + ": connected");
    }

    @Test
    void theFailureAfterWhichItGivesUpIsLoggedAsSuch() {
        ZMTPEndpoint connector = connect(open(push().reconnectDelay(Duration.ZERO, Duration.ZERO)), ENDPOINT);

        assertThat(connector.state()).isEqualTo(ZMTPEndpoint.State.STOPPED);
        assertThatThrownBy(() -> OtherThread.call(connector::sync))
                .hasMessageStartingWith("PEER_DOWN: " + ENDPOINT + " was given up: ")
                .hasCause(((Connector) connector).lastFailure());
        assertThat(log.lines).singleElement().asString().startsWith(ENDPOINT).endsWith(", given up");
        assertThat(events).hasExactlyElementsOfTypes(ZMTPSocketEvent.Connecting.class, ZMTPSocketEvent.Stopped.class);
    }

    @Test
    void retryingNowDoesNothingWhileItIsUp() {
        bound();
        ZMTPEndpoint connector = connect(open(push()), ENDPOINT);
        events.clear();

        connector.retryNow();
        loop.run();

        assertThat(connector.state()).isEqualTo(ZMTPEndpoint.State.UP);
        assertThat(events).isEmpty();
    }

    @Test
    void retryingNowTakesThePlaceOfTheNextAttempt() {
        ZMTPEndpoint connector = connect(open(push()), ENDPOINT);
        ZMTPSocketEvent.Retrying next = (ZMTPSocketEvent.Retrying) events.get(1);
        loop.advance(next.delay().minusMillis(1));
        events.clear();

        connector.retryNow();
        loop.run();
        loop.advance(WAIT.dividedBy(2).minusMillis(1)); // the next wait is longer

        assertThat(events).hasExactlyElementsOfTypes(ZMTPSocketEvent.Connecting.class, ZMTPSocketEvent.Retrying.class);
    }

    @Test
    void nothingRunsAfterTheEndOfOneThatWaits() {
        ZMTPEndpoint connector = connect(open(push()), ENDPOINT);
        assertThat(connector.state()).isEqualTo(ZMTPEndpoint.State.RETRYING);

        assertThat(TestSockets.disconnect(connector)).isNotDone();
        loop.run();

        assertThat(connector.state()).isEqualTo(ZMTPEndpoint.State.STOPPED);
        assertThat(((Connector) connector).closed()).isCompleted();
        assertThat(loop.advance(WAIT)).as("tasks").isZero();
    }

    @Test
    void nothingRunsAfterTheEndOfOneThatHasLingered() {
        ZMTPSocket push = open(push());
        ZMTPEndpoint connector = connect(push, ENDPOINT);
        CompletableFuture<Void> queued = push.sendAsync(TestSockets.message("queued"));
        CompletableFuture<Void> closed = TestSockets.disconnect(connector);
        loop.run();
        assertThat(closed).as("a message waits").isNotDone();

        bound();
        connector.retryNow();
        loop.run();

        assertThat(queued).isCompleted();
        assertThat(closed).isCompleted();
        assertThat(loop.advance(WAIT)).as("tasks").isZero();
    }

    @Test
    void oneThatLingersEndsWithItsLinger() {
        ZMTPSocket push = open(push());
        ZMTPEndpoint connector = connect(push, ENDPOINT);
        CompletableFuture<Void> queued = push.sendAsync(TestSockets.message("queued"));
        CompletableFuture<Void> closed = TestSockets.disconnect(connector);
        loop.run();

        loop.advance(WAIT.minusMillis(1));
        assertThat(closed).isNotDone();
        loop.advance(Duration.ofMillis(1));

        assertThat(closed).isCompleted();
        assertThat(TestSockets.reason(queued)).isEqualTo(ZMTPSocketException.Reason.PEER_DOWN);
        assertThat(connector.state()).isEqualTo(ZMTPEndpoint.State.STOPPED);
    }

    @Test
    void whoWaitsForAPeerWaitsForTheNextWhenItHasLeft() {
        ZMTPSocket pull = bound();
        ZMTPSocket push = open(push());
        connect(push, ENDPOINT);
        CompletableFuture<Void> there = push.whenPeers(1);
        loop.run();
        assertThat(there).isCompleted();

        pull.closeAsync(Duration.ZERO);
        loop.run();
        CompletableFuture<Void> again = push.whenPeers(1);
        loop.run();
        assertThat(again).isNotDone();
        bound();
        loop.advance(WAIT.multipliedBy(2));

        assertThat(again).isCompleted();
    }

    /** What its transport has is still on its way. */
    @Test
    void oneThatLingersGetsNothingNew() {
        WriteGate gate = new WriteGate();
        List<String> elsewhere = new ArrayList<>();
        ZMTPSocket other = loop.open(ZMTPSocketConfig.builder(PULL));
        other.onMessage((from, message) -> elsewhere.add(WriteGate.text(message)));
        other.bind("test://other");
        bound();
        ZMTPSocket push = open(push().pipelineInitializer(gate));
        ZMTPEndpoint leaving = connect(push, ENDPOINT);
        connect(push, "test://other");
        gate.close();
        for (int i = 0; i < 2; i++) {
            push.sendOrDrop(TestSockets.message("one for each transport"));
        }
        loop.run();

        leaving.close();
        loop.run();
        assertThat(leaving.state()).isEqualTo(ZMTPEndpoint.State.UP);
        for (int i = 0; i < 4; i++) {
            push.sendOrDrop(TestSockets.message("m" + i));
        }
        gate.open();
        loop.run();

        assertThat(elsewhere).containsExactly("one for each transport", "m0", "m1", "m2", "m3");
        assertThat(leaving.state()).isEqualTo(ZMTPEndpoint.State.STOPPED);
    }

    @Test
    void theEndOfOneThatIsClosedIsAnEvent() {
        bound();
        ZMTPEndpoint connector = connect(open(push()), ENDPOINT);
        events.clear();

        connector.close();
        loop.run();

        assertThat(events)
                .filteredOn(ZMTPSocketEvent.Stopped.class::isInstance)
                .containsExactly(new ZMTPSocketEvent.Stopped(ENDPOINT, null));
    }

    @Test
    void oneThatIsClosedWhileItsNameIsLookedUpDoesNotConnect() {
        ZMTPEndpoint connector = connect(open(push()), "watched://connector");
        bound();
        connector.close();
        loop.run();

        lookups.remove().run();
        loop.run();

        assertThat(connector.state()).isEqualTo(ZMTPEndpoint.State.STOPPED);
        assertThat(watched.channels).isZero();
        assertThat(events).hasExactlyElementsOfTypes(ZMTPSocketEvent.Connecting.class, ZMTPSocketEvent.Stopped.class);
    }

    @Test
    void anExecutorForNamesThatRefusesIsAFailureOfTheAttempt() {
        IllegalStateException refusal = new IllegalStateException("of the test");
        ZMTPSocket push = open(push().resolverExecutor(task -> {
            throw refusal;
        }));

        ZMTPEndpoint connector = connect(push, "watched://connector");

        assertThat(connector.state()).isEqualTo(ZMTPEndpoint.State.RETRYING);
        assertThat(((Connector) connector).lastFailure()).isSameAs(refusal);
    }

    @Test
    void oneThatHasEndedIsNoLongerToldWhoBinds() {
        ZMTPEndpoint connector = connect(open(push()), "watched://connector");
        assertThat(watched.isClosed).isFalse();

        connector.close();
        loop.run();

        assertThat(watched.isClosed).isTrue();
    }

    @Test
    void oneThatIsUpForgetsItsLastFailure() {
        ZMTPSocket push = open(push());
        ZMTPEndpoint connector = connect(push, ENDPOINT);
        assertThat(((Connector) connector).lastFailure()).isNotNull();

        bound();
        connector.retryNow();
        loop.run();

        assertThat(((Connector) connector).lastFailure()).isNull();
    }

    /** {@code local} whose names take time, and which says what became of its connectors. */
    private static final class Watched implements Transport {
        private int channels;
        private boolean isClosed;

        @Override
        public String scheme() {
            return "watched";
        }

        @Override
        public Address address(String text, boolean bind) {
            return new Address() {
                @Override
                public List<? extends SocketAddress> resolve() {
                    return List.of(new LocalAddress(text));
                }

                @Override
                public Asks asks() {
                    return Asks.NAMES;
                }

                @Override
                public AutoCloseable whenBound(Runnable retry) {
                    return () -> isClosed = true;
                }
            };
        }

        @Override
        public Channel channel() {
            channels++;
            return new LocalChannel();
        }

        @Override
        public ServerChannel serverChannel() {
            return new LocalServerChannel();
        }
    }
}
