package dev.zmtp.codec;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPromise;
import java.nio.channels.ClosedChannelException;

/** A phase before traffic: writes are held until it is known how they travel. */
abstract class HandshakePhase extends Phase {

    HandshakePhase(ZMTPCodec codec) {
        super(codec);
    }

    @Override
    final void write(Object message, ChannelPromise promise) {
        codec.held().add(message, promise, codec.config().maxHeldLength());
        codec.memory().count();
    }

    @Override
    final void flush() {
        if (!codec.held().isEmpty()) {
            codec.held().requestFlush();
        }
        codec.ctx().flush();
    }

    @Override
    final void inputEnded() {
        codec.handshake().endedByPeer();
    }

    @Override
    final void exceptionCaught(Throwable cause) {
        codec.fail(cause);
    }

    /**
     * Sends bytes of the handshake at once. If the write fails, the connection ends; this is how an {@code SslHandler}
     * reports a failed TLS handshake.
     */
    final void send(ByteBuf bytes) {
        codec.ctx().writeAndFlush(bytes).addListener(sent -> {
            if (!sent.isSuccess()) {
                codec.phase().writeFailed(sent.cause(), false);
            }
        });
    }

    @Override
    final void writeFailed(Throwable cause, boolean isVoid) {
        if (!(cause instanceof ClosedChannelException)) { // channelInactive follows, and reports more
            codec.fail(cause);
        }
    }
}
