package dev.zmtp.codec.handshake;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.testing.Recorder;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the codec reports of a connect, and that it leaves its promise to the user. */
class ConnectTest {

    private static final SocketAddress PEER = InetSocketAddress.createUnresolved("peer.example", 5555);

    /** Keeps the promise of a connect, as a transport does that has to wait. */
    private static final class Connecting extends ChannelOutboundHandlerAdapter {
        private ChannelPromise promise;

        @Override
        public void connect(
                ChannelHandlerContext ctx, SocketAddress remote, SocketAddress local, ChannelPromise promise) {
            this.promise = promise;
        }
    }

    private final Connecting transport = new Connecting();
    private final ZMTPCodec codec = ZMTPCodec.of(DEALER);
    private final Recorder<Object> recorder = Recorder.ofAll();
    private final ConnectingChannel channel = new ConnectingChannel();

    private ChannelFuture connect() {
        channel.pipeline().addLast(transport, codec, recorder);
        return channel.connect(PEER);
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private String failure() {
        return ((ZMTPHandshakeFailure) recorder.events.get(0)).cause().getMessage();
    }

    @Test
    void aFailedConnectIsReportedOnceWithAddressAndCause() {
        ChannelFuture connect = connect();
        IOException refused = new IOException("Connection refused");
        transport.promise.setFailure(refused);

        assertThat(connect.cause()).isSameAs(refused);
        assertThat(recorder.events).hasSize(1);
        assertThat(failure()).isEqualTo("not connected: Connection refused: " + PEER);
        assertThat(codec.session().handshakeFuture().cause())
                .isInstanceOf(ZMTPException.class)
                .hasCause(refused);
    }

    @Test
    void aCauseWithoutAMessageIsNamed() {
        ChannelFuture connect = connect();
        connect.cancel(false);

        assertThat(transport.promise.isCancelled()).isTrue();
        assertThat(failure()).startsWith("not connected: java.util.concurrent.CancellationException");
    }

    @Test
    void aConnectThatIsCancelledTooLateClosesTheChannel() {
        ChannelFuture connect = connect();
        transport.promise.setUncancellable();
        connect.cancel(false);
        assertThat(channel.isOpen()).isTrue();

        transport.promise.setSuccess();
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void aSecondConnectThatFailsLeavesTheConnectionAlone() {
        channel.isConnected = true;
        ChannelFuture second = connect();
        transport.promise.setFailure(new IOException("already connected"));

        assertThat(second.isSuccess()).isFalse();
        assertThat(recorder.events).isEmpty();
        assertThat(channel.isOpen()).isTrue();
    }

    /** Registered, and not active before it is connected. */
    private static final class ConnectingChannel extends EmbeddedChannel {
        private boolean isConnected;

        @Override
        public boolean isActive() {
            return isConnected && super.isActive();
        }
    }
}
