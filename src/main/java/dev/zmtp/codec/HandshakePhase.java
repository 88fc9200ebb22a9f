package dev.zmtp.codec;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPromise;

/** A phase before traffic: writes are held until there is a version in which they can leave. */
abstract class HandshakePhase extends Phase {

    HandshakePhase(ZMTPCodec codec) {
        super(codec);
    }

    @Override
    final void write(Object message, ChannelPromise promise) {
        codec.held().add(message, promise, codec.config().maxHeldLength());
    }

    @Override
    final void flush() {
        if (!codec.held().isEmpty()) {
            codec.held().flush();
        }
        codec.ctx().flush();
    }

    /** Sends octets of the handshake at once. That they cannot be sent ends the connection: TLS in front says so here. */
    final void send(ByteBuf octets) {
        codec.ctx().writeAndFlush(octets).addListener(sent -> {
            if (!sent.isSuccess()) {
                codec.sendFailed(sent.cause());
            }
        });
    }
}
