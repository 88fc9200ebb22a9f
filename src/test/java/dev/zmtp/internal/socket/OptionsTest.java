package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.internal.socket.TestSockets.bind;
import static dev.zmtp.internal.socket.TestSockets.connect;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.CapturedLog;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** The options of a socket's channels. */
class OptionsTest {

    @Test
    void theBacklogIsThatOfTheListenersAndConnectionsDoNotKnowIt() {
        AtomicReference<NioServerSocketChannel> listener = new AtomicReference<>();
        try (TestSockets sockets = new TestSockets();
                CapturedLog clients = new CapturedLog("io.netty.bootstrap.Bootstrap");
                CapturedLog servers = new CapturedLog("io.netty.bootstrap.ServerBootstrap")) {
            ZMTPSocket pull = sockets.open(withBacklog(sockets, PULL, listener));
            ZMTPSocket push = sockets.open(withBacklog(sockets, PUSH, new AtomicReference<>()));

            connect(push, bind(pull, "tcp://127.0.0.1:*"));

            assertThat(listener.get().config().getBacklog()).isEqualTo(7);
            assertThat(clients.lines).isEmpty();
            assertThat(servers.lines).isEmpty();
        }
    }

    @Test
    void theTimeToConnectIsThatOfTheConfig() {
        AtomicInteger millis = new AtomicInteger();
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket pull = sockets.open(PULL);
            ZMTPSocket push = sockets.open(sockets.builder(PUSH)
                    .connectTimeout(Duration.ofMillis(1_234))
                    .pipeline((endpoint, pipeline) ->
                            millis.set(pipeline.channel().config().getConnectTimeoutMillis())));

            connect(push, bind(pull, "tcp://127.0.0.1:*"));

            assertThat(millis).hasValue(1_234);
        }
    }

    private static ZMTPSocketConfig.Builder withBacklog(
            TestSockets sockets, ZMTPSocketType type, AtomicReference<NioServerSocketChannel> listener) {
        return sockets.builder(type).option(ChannelOption.SO_BACKLOG, 7).tcpChannels(NioSocketChannel::new, () -> {
            listener.set(new NioServerSocketChannel());
            return listener.get();
        });
    }
}
