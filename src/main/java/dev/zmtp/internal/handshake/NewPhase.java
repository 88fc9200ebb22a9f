package dev.zmtp.internal.handshake;

import dev.zmtp.internal.connection.Connection;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.PromiseNotifier;
import java.net.SocketAddress;

/** The connection has not begun: the channel is not active yet. Writes are held, and nothing is sent. */
final class NewPhase extends HandshakePhase {

    NewPhase(Connection connection) {
        super(connection);
    }

    /**
     * Reports a failure with its cause. That takes a promise of our own: a listener that the user's has already, such
     * as CLOSE_ON_FAILURE, would end the handshake without the cause.
     */
    @Override
    public ChannelPromise connecting(SocketAddress peer, ChannelPromise promise) {
        connection.session().connectedTo(peer);
        ChannelPromise connected = connection.ctx().newPromise();
        connected.addListener(result -> {
            if (!result.isSuccess() && isCurrent()) {
                connection.fail(connection.handshake().failures().notConnected(peer, result.cause()));
            } else if (result.isSuccess() && promise.isCancelled()) { // while the transport connected
                connection.ctx().close();
            }
        });
        PromiseNotifier.cascade(false, connected, promise); // a cancellation by the user is not worth a warning
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

    /** Bytes before the channel is active: a handler before us delays channelActive, but the connection exists. */
    @Override
    public void read(ByteBuf in) {
        connection.start();
    }

    @Override
    public String toString() {
        return "not connected";
    }
}
