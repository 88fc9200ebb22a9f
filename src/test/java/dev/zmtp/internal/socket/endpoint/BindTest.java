package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.PULL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.internal.transport.Transport;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.LocalTransport;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.VirtualTime;
import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a binding says of itself until it is there, and if it cannot be; in virtual time. */
@Tag("netty-4.2-only")
class BindTest {

    private static final String ENDPOINT = "local://bind";
    private static final Duration UNTIL_AWAITED = Duration.ofSeconds(1);

    private final VirtualTime time = new VirtualTime();
    private final CapturedLog log = new CapturedLog("dev.zmtp.socket.Listener");
    private final Queue<Runnable> lookups = new ArrayDeque<>();
    private final List<ZMTPSocketEvent> events = new ArrayList<>();

    @AfterEach
    void close() {
        time.close();
        log.close();
    }

    private ZMTPSocket open() {
        ZMTPSocket pull = time.open(ZMTPSocketConfig.builder(PULL).resolverExecutor(lookups::add));
        pull.onEvent(Runnable::run, events::add);
        return pull;
    }

    /** Binds to an address that another socket has. */
    private ZMTPEndpoint bindToTaken() {
        open().bind(ENDPOINT);
        time.run();
        events.clear();
        ZMTPEndpoint second = open().bind(ENDPOINT);
        time.run();
        return second;
    }

    @Test
    void theWaitForABindingWhoseNameIsLookedUpEndsWithATimeout() {
        ZMTPEndpoint binding = open().bind("tcp://localhost:5555");
        time.run();

        assertThat(binding.state()).isEqualTo(ZMTPEndpoint.State.RESOLVING);
        assertThatThrownBy(() -> binding.sync(Duration.ofMillis(1)))
                .isInstanceOf(ZMTPSocketException.class)
                .hasMessage("TIMEOUT: tcp://localhost:5555 is not bound yet");
        assertThat(binding).hasToString("ZMTPEndpoint{tcp://localhost:5555, RESOLVING}");
    }

    @Test
    void aBindingThatIsClosedWhileItsNameIsLookedUpIsNeverBound() {
        ZMTPEndpoint binding = open().bind("tcp://localhost:5555");
        time.run();

        binding.close();
        time.run();
        lookups.remove().run();
        time.run();

        assertThat(binding.state()).isEqualTo(ZMTPEndpoint.State.STOPPED);
        assertThat(TestSockets.reason(binding.readyFuture())).isEqualTo(ZMTPSocketException.Reason.CLOSED);
        assertThat(((Listener) binding).unbound()).isCompleted();
        assertThat(events).isEmpty();
    }

    @Test
    void theFailureOfOneThatNobodyAsksForIsLoggedAfterASecond() {
        bindToTaken();

        time.pass(UNTIL_AWAITED.minusMillis(1));
        assertThat(log.lines).isEmpty();
        time.pass(Duration.ofMillis(1));

        assertThat(log.lines).singleElement().asString().startsWith("address already in use");
        assertThat(events).isEmpty();
    }

    @Test
    void theFailureOfOneWhoseFutureWasAskedForIsNotLogged() {
        ZMTPEndpoint taken = bindToTaken();
        Throwable failure = TestSockets.failure(taken.readyFuture());

        time.pass(UNTIL_AWAITED);

        assertThat(failure).hasMessageStartingWith("BIND_FAILED: address already in use");
        assertThat(taken.state()).isEqualTo(ZMTPEndpoint.State.STOPPED);
        assertThat(log.lines).isEmpty();
    }

    @Test
    void theFailureOfOneThatWasWaitedForIsNotLogged() {
        ZMTPEndpoint taken = bindToTaken();

        assertThatThrownBy(taken::sync).hasMessageStartingWith("BIND_FAILED: ");
        time.pass(UNTIL_AWAITED);

        assertThat(log.lines).isEmpty();
    }

    @Test
    void theFailureOfOneThatWasWaitedForWithATimeoutIsNotLogged() {
        ZMTPEndpoint taken = bindToTaken();

        assertThatThrownBy(() -> taken.sync(TestSockets.PATIENCE)).hasMessageStartingWith("BIND_FAILED: ");
        time.pass(UNTIL_AWAITED);

        assertThat(log.lines).isEmpty();
    }

    @Test
    void oneThatFailedLeavesTheAddressToTheOther() {
        ZMTPSocket pull = open();
        ZMTPEndpoint first = pull.bind(ENDPOINT);
        time.run();
        ZMTPEndpoint second = pull.bind(ENDPOINT);
        time.run();
        assertThat(TestSockets.reason(second.readyFuture())).isEqualTo(ZMTPSocketException.Reason.BIND_FAILED);

        second.close();
        time.run();

        assertThat(first.state()).isEqualTo(ZMTPEndpoint.State.LISTENING);
        assertThat(events).hasExactlyElementsOfTypes(ZMTPSocketEvent.Listening.class);
    }

    @Test
    void itsEndIsReportedOnce() {
        ZMTPEndpoint binding = open().bind(ENDPOINT);
        time.run();

        binding.close();
        binding.close();
        time.pass(Duration.ofMillis(10));

        assertThat(binding.state()).isEqualTo(ZMTPEndpoint.State.STOPPED);
        assertThat(events)
                .containsExactly(new ZMTPSocketEvent.Listening(ENDPOINT), new ZMTPSocketEvent.Stopped(ENDPOINT, null));
    }

    /** As when the process has too many open files. */
    @Test
    void aConnectionThatCannotBeAcceptedIsReportedAndLogged() {
        ServerChannel server = new LocalServerChannel();
        ZMTPSocket pull = time.open(ClockedSockets.with(ZMTPSocketConfig.builder(PULL), new Given(server)));
        pull.onEvent(Runnable::run, events::add);
        ZMTPEndpoint binding = pull.bind("given://bind");
        time.run();
        events.clear();
        IOException failure = new IOException("Too many open files");

        server.pipeline().fireExceptionCaught(failure);
        time.run();

        assertThat(events).containsExactly(new ZMTPSocketEvent.AcceptFailed("given://bind", failure));
        assertThat(log.lines).containsExactly("given://bind: a connection was not accepted: " + failure);
        assertThat(binding.state()).isEqualTo(ZMTPEndpoint.State.LISTENING);
    }

    /** Binds this channel of the test. */
    private record Given(ServerChannel serverChannel) implements Transport {
        @Override
        public String scheme() {
            return "given";
        }

        @Override
        public Address address(String text, boolean bind) {
            return new LocalTransport().address(text, bind);
        }

        @Override
        public Channel channel() {
            return new LocalChannel();
        }
    }
}
