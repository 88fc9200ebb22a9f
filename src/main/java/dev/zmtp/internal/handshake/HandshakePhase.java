package dev.zmtp.internal.handshake;

import dev.zmtp.internal.connection.Connection;
import dev.zmtp.internal.connection.Phase;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPromise;
import java.nio.channels.ClosedChannelException;

/** A phase before traffic. Writes are held until their encoding is known. */
abstract class HandshakePhase extends Phase {

    HandshakePhase(Connection connection) {
        super(connection);
    }

    @Override
    public final void write(Object message, ChannelPromise promise) {
        connection.held().add(message, promise, connection.config().maxHeldWritesLength());
        connection.memory().count();
    }

    @Override
    public final void flush() {
        if (!connection.held().isEmpty()) {
            connection.held().requestFlush();
        }
        connection.ctx().flush();
    }

    @Override
    public final void inputEnded() {
        connection.handshake().endedByPeer();
    }

    @Override
    public final void exceptionCaught(Throwable cause) {
        connection.fail(cause);
    }

    /**
     * Sends bytes of the handshake immediately. If the write fails, the connection ends. An {@code SslHandler} reports
     * a failed TLS handshake in this way.
     */
    final void send(ByteBuf bytes) {
        connection.memory().written(bytes.readableBytes(), 1);
        connection.ctx().writeAndFlush(bytes).addListener(sent -> {
            connection.memory().onSent(1);
            if (!sent.isSuccess()) {
                connection.phase().writeFailed(sent.cause(), false);
            }
        });
    }

    @Override
    public final void writeFailed(Throwable cause, boolean isVoid) {
        if (!(cause instanceof ClosedChannelException)) { // channelInactive follows, and reports more
            connection.fail(cause);
        }
    }
}
