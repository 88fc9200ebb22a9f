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
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.LocalTransport;
import dev.zmtp.testing.NamedTransport;
import dev.zmtp.testing.OtherThread;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;
import java.io.IOException;
import java.net.SocketAddress;
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

    private static final String ENDPOINT = "test://bind";
    private static final Duration UNTIL_AWAITED = Duration.ofSeconds(1);

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final CapturedLog log = new CapturedLog("dev.zmtp.socket.Listener");
    private final Queue<Runnable> lookups = new ArrayDeque<>();
    private final List<ZMTPSocketEvent> events = new ArrayList<>();

    @AfterEach
    void close() {
        loop.close();
        log.close();
    }

    private ZMTPSocket open() {
        ZMTPSocket pull = loop.open(ClockedSockets.with(ZMTPSocketConfig.builder(PULL), new NamedTransport("named") {
                    @Override
                    protected List<? extends SocketAddress> lookUp(String name) {
                        return List.of(new LocalAddress(name));
                    }
                })
                .resolverExecutor(lookups::add));
        pull.onEvent(Runnable::run, events::add);
        return pull;
    }

    /** Binds to an address that another socket has. */
    private ZMTPEndpoint bindToTaken() {
        open().bind(ENDPOINT);
        loop.run();
        events.clear();
        ZMTPEndpoint second = open().bind(ENDPOINT);
        loop.run();
        return second;
    }

    @Test
    void theWaitForABindingWhoseNameIsLookedUpEndsWithATimeout() {
        ZMTPEndpoint binding = open().bind("named://localhost:5555");
        loop.run();

        assertThat(binding.state()).isEqualTo(ZMTPEndpoint.State.RESOLVING);
        assertThatThrownBy(() -> OtherThread.call(() -> binding.sync(Duration.ofMillis(1))))
                .isInstanceOf(ZMTPSocketException.class)
                .hasMessage("TIMEOUT: named://localhost:5555 is not bound yet");
        assertThat(binding).hasToString("ZMTPEndpoint{named://localhost:5555, RESOLVING}");
    }

    @Test
    void aBindingThatIsClosedWhileItsNameIsLookedUpIsNeverBound() {
        ZMTPEndpoint binding = open().bind("named://localhost:5555");
        loop.run();

        binding.close();
        loop.run();
        lookups.remove().run();
        loop.run();

        assertThat(binding.state()).isEqualTo(ZMTPEndpoint.State.STOPPED);
        assertThat(TestSockets.reason(binding.readyFuture())).isEqualTo(ZMTPSocketException.Reason.CLOSED);
        assertThat(((Listener) binding).unbound()).isCompleted();
        assertThat(events).isEmpty();
    }

    @Test
    void theFailureOfOneThatNobodyAsksForIsLoggedAfterASecond() {
        bindToTaken();

        loop.advance(UNTIL_AWAITED.minusMillis(1));
        assertThat(log.lines).isEmpty();
        loop.advance(Duration.ofMillis(1));

        assertThat(log.lines).singleElement().asString().startsWith(ENDPOINT + ": the name is in use");
        assertThat(events).isEmpty();
    }

    @Test
    void theFailureOfOneWhoseFutureWasAskedForIsNotLogged() {
        ZMTPEndpoint taken = bindToTaken();
        Throwable failure = TestSockets.failure(taken.readyFuture());

        loop.advance(UNTIL_AWAITED);

        assertThat(failure).hasMessageStartingWith("BIND_FAILED: " + ENDPOINT + ": the name is in use");
        assertThat(taken.state()).isEqualTo(ZMTPEndpoint.State.STOPPED);
        assertThat(log.lines).isEmpty();
    }

    @Test
    void theFailureOfOneThatWasWaitedForIsNotLogged() {
        ZMTPEndpoint taken = bindToTaken();

        assertThatThrownBy(() -> OtherThread.call(taken::sync)).hasMessageStartingWith("BIND_FAILED: ");
        loop.advance(UNTIL_AWAITED);

        assertThat(log.lines).isEmpty();
    }

    @Test
    void theFailureOfOneThatWasWaitedForWithATimeoutIsNotLogged() {
        ZMTPEndpoint taken = bindToTaken();

        assertThatThrownBy(() -> OtherThread.call(() -> taken.sync(TestSockets.PATIENCE)))
                .hasMessageStartingWith("BIND_FAILED: ");
        loop.advance(UNTIL_AWAITED);

        assertThat(log.lines).isEmpty();
    }

    @Test
    void oneThatFailedLeavesTheAddressToTheOther() {
        ZMTPSocket pull = open();
        ZMTPEndpoint first = pull.bind(ENDPOINT);
        loop.run();
        ZMTPEndpoint second = pull.bind(ENDPOINT);
        loop.run();
        assertThat(TestSockets.reason(second.readyFuture())).isEqualTo(ZMTPSocketException.Reason.BIND_FAILED);

        second.close();
        loop.run();

        assertThat(first.state()).isEqualTo(ZMTPEndpoint.State.LISTENING);
        assertThat(events).hasExactlyElementsOfTypes(ZMTPSocketEvent.Listening.class);
    }

    @Test
    void itsEndIsReportedOnce() {
        ZMTPEndpoint binding = open().bind(ENDPOINT);
        loop.run();

        binding.close();
        binding.close();
        loop.advance(Duration.ofMillis(10));

        assertThat(binding.state()).isEqualTo(ZMTPEndpoint.State.STOPPED);
        assertThat(events)
                .containsExactly(new ZMTPSocketEvent.Listening(ENDPOINT), new ZMTPSocketEvent.Stopped(ENDPOINT, null));
    }

    /** As when the process has too many open files. */
    @Test
    void aConnectionThatCannotBeAcceptedIsReportedAndLogged() {
        ServerChannel server = new LocalServerChannel();
        ZMTPSocket pull = loop.open(ClockedSockets.with(ZMTPSocketConfig.builder(PULL), new Given(server)));
        pull.onEvent(Runnable::run, events::add);
        ZMTPEndpoint binding = pull.bind("given://bind");
        loop.run();
        events.clear();
        IOException failure = new IOException("Too many open files");

        server.pipeline().fireExceptionCaught(failure);
        loop.run();

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
