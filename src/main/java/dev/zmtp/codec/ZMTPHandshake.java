package dev.zmtp.codec;

import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * What a handshake agreed on and what the peer told of itself. Immutable.
 *
 * @param negotiatedVersion the version that both sides speak from here on
 * @param mechanism the name of the security mechanism; NULL also for ZMTP 2.0 and 1.0, which know none
 * @param remoteIdentity the identity that the peer announced, read-only; empty if it is anonymous
 * @param remoteSocketType the type of the peer's socket; null if it did not say, as in ZMTP 1.0
 * @param metadata all properties of the peer; empty in ZMTP 2.0 and 1.0
 */
public record ZMTPHandshake(
        ZMTPVersion negotiatedVersion,
        String mechanism,
        ByteBuffer remoteIdentity,
        @Nullable ZMTPSocketType remoteSocketType,
        ZMTPMetadata metadata) {

    /** Keeps a read-only view of the identity. */
    public ZMTPHandshake {
        remoteIdentity = remoteIdentity.asReadOnlyBuffer();
    }

    /** The identity, read-only and with a position of its own. */
    @Override
    public ByteBuffer remoteIdentity() {
        return remoteIdentity.duplicate();
    }
}
