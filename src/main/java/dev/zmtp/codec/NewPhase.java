package dev.zmtp.codec;

import io.netty.buffer.ByteBuf;

/** The connection has not begun: the channel is not active yet. Writes are held, and nothing is sent. */
final class NewPhase extends HandshakePhase {

    NewPhase(ZMTPCodec codec) {
        super(codec);
    }

    @Override
    void connected() {
        codec.start();
    }

    /** Bytes before the channel is active: a handler before us keeps that event back, but the connection is there. */
    @Override
    void read(ByteBuf in) {
        codec.start();
    }

    @Override
    public String toString() {
        return "not connected";
    }
}
