package dev.zmtp.internal.socket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.socket.context.PeerCounters;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.endpoint.Listener;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPStats;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.TestSockets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The order in which a socket ends, and what it waits for. */
@Tag("netty-4.2-only")
class ClosingTest {

    private static final Duration LINGER = Duration.ofSeconds(10);

    /** Parts that only note what happens to them. */
    private static final class Parts implements Closing.Parts {
        private final List<String> calls = new ArrayList<>();
        private boolean haveSentAll = true;

        @Override
        public void endOthers() {
            calls.add("end others");
        }

        @Override
        public void sendAccepted() {
            calls.add("send");
        }

        @Override
        public boolean haveSentAll() {
            return haveSentAll;
        }

        @Override
        public void endAll() {
            calls.add("end all");
        }

        @Override
        public void reportRest() {
            calls.add("report");
        }

        @Override
        public ZMTPStats statsAtTheEnd() {
            calls.add("account");
            return ClockedSockets.STATS.apply(new PeerCounters(null).counts(0, 0, 0, 0, 0, Duration.ZERO));
        }
    }

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final SocketContext context = ClockedSockets.context(
            ZMTPSocketConfig.of(ZMTPSocketType.PUSH),
            loop.eventLoop(),
            () -> loop.time().toNanos());
    private final Parts parts = new Parts();
    private final Listener binding = mock(Listener.class);
    private final List<Listener> bindings = new ArrayList<>();
    private final Closing closing = new Closing(context, parts, bindings, () -> parts.calls.add("closed"));

    @BeforeEach
    void open() {
        context.when(() -> {}, closing::check);
        closing.open();
    }

    @AfterEach
    void close() {
        loop.close();
    }

    private CompletableFuture<ZMTPStats> closed() {
        CompletableFuture<ZMTPStats> closed = closing.close(LINGER);
        loop.run();
        return closed;
    }

    @Test
    void aSocketWithNothingToSendEndsAtOnce() {
        assertThat(closed()).isCompleted();

        assertThat(parts.calls)
                .containsExactly("end others", "send", "end all", "closed", "account", "report", "report");
        assertThat(context.isFinished()).isTrue();
    }

    @Test
    void nothingIsAcceptedFromTheCallOn() {
        closing.close(LINGER);

        assertThat(context.isClosed()).isTrue();
        assertThat(parts.calls).isEmpty();
    }

    @Test
    void whatIsQueuedHasItsTimeToLeave() {
        parts.haveSentAll = false;
        CompletableFuture<ZMTPStats> closed = closed();

        loop.advance(LINGER.minusMillis(1));
        assertThat(parts.calls).containsExactly("end others", "send");

        loop.advance(Duration.ofMillis(1));
        assertThat(parts.calls)
                .containsExactly("end others", "send", "end all", "closed", "account", "report", "report");
        assertThat(closed).isCompleted();
    }

    @Test
    void theSocketEndsWhenTheLastMessageHasLeft() {
        parts.haveSentAll = false;
        CompletableFuture<ZMTPStats> closed = closed();
        parts.haveSentAll = true;

        closing.check();

        assertThat(closed).isCompleted();
    }

    @Test
    void aMessageThatTheTransportHasKeepsTheSocketOpen() {
        context.tally().unconfirmed(1);
        CompletableFuture<ZMTPStats> closed = closed();
        assertThat(closed).isNotDone();

        context.tally().unconfirmed(-1);
        context.settled();

        assertThat(closed).isCompleted();
    }

    @Test
    void bindingsHaveAMomentToEnd() {
        bindings.add(binding);
        CompletableFuture<ZMTPStats> closed = closed();
        assertThat(parts.calls).endsWith("end all");
        assertThat(closed).isNotDone();

        bindings.remove(binding);
        closing.ended();

        assertThat(closed).isCompleted();
    }

    @Test
    void aBindingThatDoesNotEndIsNotWaitedFor() {
        bindings.add(binding);
        CompletableFuture<ZMTPStats> closed = closed();

        loop.advance(Duration.ofMillis(20));

        assertThat(closed).isCompleted();
    }

    @Test
    void aSecondCloseHasTheSameReport() {
        CompletableFuture<ZMTPStats> first = closed();

        assertThat(closed().join()).isSameAs(first.join());
        assertThat(parts.calls).containsOnlyOnce("closed");
    }

    @Test
    void aSocketEndsWithItsEventLoop() {
        parts.haveSentAll = false;
        CompletableFuture<ZMTPStats> report = closing.report();

        loop.close();

        TestSockets.get(report);
        assertThat(parts.calls).startsWith("end others", "end all", "closed", "account", "report");
    }
}
