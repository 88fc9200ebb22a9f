package dev.zmtp.codec;

import dev.zmtp.ZMTPMetadata;
import dev.zmtp.mechanism.ZMTPMechanism;
import dev.zmtp.wire.Metadata;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.net.SocketAddress;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** What the mechanism of one connection may ask of its codec. */
final class MechanismContext implements ZMTPMechanism.Context {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(MechanismContext.class);

    private final ZMTPCodec codec;

    MechanismContext(ZMTPCodec codec) {
        this.codec = codec;
    }

    @Override
    public ZMTPMetadata localMetadata() {
        ZMTPConfig config = codec.config();
        ZMTPMetadata metadata = ZMTPMetadata.EMPTY.with(
                ZMTPMetadata.SOCKET_TYPE, config.socketType().name());
        if (config.socketType().announcesIdentity()) {
            metadata = metadata.with(ZMTPMetadata.IDENTITY, config.localIdentity());
        }
        for (int i = 0; i < config.properties().size(); i++) {
            metadata = metadata.with(
                    config.properties().name(i), config.properties().value(i));
        }
        return metadata;
    }

    @Override
    public ZMTPMetadata readPeerMetadata(ByteBuf data) {
        ZMTPMetadata peer = Metadata.read(data, codec.config().maxMetadataProperties());
        MechanismPhase.check(codec, peer);
        return peer;
    }

    @Override
    public ByteBufAllocator alloc() {
        return codec.ctx().alloc();
    }

    @Override
    public @Nullable SocketAddress remoteAddress() {
        return codec.ctx().channel().remoteAddress();
    }

    @Override
    public void resume() {
        try {
            codec.ctx().executor().execute(codec::resumeMechanism);
        } catch (RejectedExecutionException e) {
            logger.debug("{} not resumed: its event loop has ended", codec.ctx().channel(), e);
        }
    }
}
