package dev.zmtp.internal.handshake;

import dev.zmtp.internal.connection.Connection;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.PromiseNotifier;
import java.net.SocketAddress;

/** The phase before the channel is active. Writes are held, and nothing is sent. */
final class NewPhase extends HandshakePhase {

    NewPhase(Connection connection) {
        super(connection);
    }

    /**
     * Reports a failure with its cause. This requires a separate promise, because a listener that the user's promise
     * already has, such as CLOSE_ON_FAILURE, would end the handshake without the cause.
     */
    @Override
    public ChannelPromise connecting(SocketAddress peer, ChannelPromise promise) {
        connection.session().connectedTo(peer);
        ChannelPromise connected = connection.ctx().newPromise();
        connected.addListener(result -> {
            if (!result.isSuccess() && isCurrent()) {
                connection.fail(connection.handshake().failures().notConnected(peer, result.cause()));
            } else if (result.isSuccess() && promise.isCancelled()) { // while the transport was connecting
                connection.ctx().close();
            }
        });
        PromiseNotifier.cascade(false, connected, promise); // a cancellation by the user does not require a warning
        return connected;
    }

    @Override
    public String describeUserClose() {
        return "before the channel was connected";
    }

    @Override
    public void connected() {
        connection.start();
    }

    /**
     * Starts the connection early. A handler before the codec delays channelActive, but bytes show that the connection
     * exists.
     */
    @Override
    public void read(ByteBuf in) {
        connection.start();
    }

    @Override
    public String toString() {
        return "not connected";
    }
}
