package dev.zmtp.security;

import dev.zmtp.ZMTPMetadata;
import dev.zmtp.internal.wire.Metadata;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** The context of a mechanism without a codec. It accepts every peer. */
public record StandaloneContext(String socketType, Executor handshakeExecutor) implements ZMTPMechanism.Context {

    /** A context that runs computations at once. */
    public StandaloneContext(String socketType) {
        this(socketType, Runnable::run);
    }

    @Override
    public ZMTPMetadata localMetadata() {
        return ZMTPMetadata.EMPTY.with(ZMTPMetadata.SOCKET_TYPE, socketType);
    }

    @Override
    public ZMTPMetadata readPeerMetadata(ByteBuf data) {
        return Metadata.read(data, 10);
    }

    @Override
    public ByteBufAllocator alloc() {
        return ByteBufAllocator.DEFAULT;
    }

    @Override
    public SocketAddress peerAddress() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void authenticate(
            String mechanism, ByteBuffer identity, List<ByteBuffer> credentials, Consumer<ZMTPAuthDecision> answer) {
        answer.accept(ZMTPAuthDecision.accept(""));
    }

    @Override
    public void resume() {}
}
