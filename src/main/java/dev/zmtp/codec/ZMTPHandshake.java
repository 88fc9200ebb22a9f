package dev.zmtp.codec;

import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.internal.connection.EventText;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Result of a handshake, with the negotiated version and the properties that the peer announced (RFC 37, "Version
 * Negotiation" and "Connection Metadata"; RFC 23 for ZMTP 3.0). Immutable.
 *
 * @param negotiatedVersion the version that both sides speak after the handshake
 * @param mechanism the name of the security mechanism; NULL also for ZMTP 2.0 and 1.0, which have no mechanisms
 * @param remoteIdentity the identity that the peer announced, read-only; empty if the peer is anonymous
 * @param remoteSocketType the peer's socket type; null if the peer did not announce it, as in ZMTP 1.0
 * @param metadata all properties of the peer; empty in ZMTP 2.0 and 1.0
 */
public record ZMTPHandshake(
        ZMTPVersion negotiatedVersion,
        String mechanism,
        ByteBuffer remoteIdentity,
        @Nullable ZMTPSocketType remoteSocketType,
        ZMTPMetadata metadata) {

    private static final ByteBuffer ANONYMOUS = ByteBuffer.allocate(0).asReadOnlyBuffer();

    /** Stores a read-only view of the identity. */
    public ZMTPHandshake {
        remoteIdentity = remoteIdentity.hasRemaining() ? remoteIdentity.asReadOnlyBuffer() : ANONYMOUS;
    }

    /** Returns the peer's identity, read-only, as a new buffer for each call. */
    @Override
    public ByteBuffer remoteIdentity() {
        return remoteIdentity.duplicate();
    }

    /** Returns the negotiated values on a single line. The peer's properties are shown by their lengths only. */
    @Override
    public String toString() {
        return new EventText("ZMTPHandshake").handshake(this, null).toString();
    }
}
