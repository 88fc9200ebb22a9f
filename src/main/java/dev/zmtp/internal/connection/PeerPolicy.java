package dev.zmtp.internal.connection;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.wire.Greeting;
import dev.zmtp.security.ZMTPMechanism;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The rules for the peers that this side can communicate with, by version, socket type and metadata. The authenticator
 * decides which peers may connect.
 */
public final class PeerPolicy {

    /** Maximum length of a peer's type name in the ERROR that the peer receives. No type has a longer name. */
    private static final int MAX_SHOWN = 64;

    private final ZMTPConfig config;

    PeerPolicy(ZMTPConfig config) {
        this.config = config;
    }

    /**
     * Checks that this side may use {@code version}. A peer must not bypass the security of {@code mechanism} by
     * pretending to be old.
     *
     * @throws ZMTPException if the version is not allowed
     */
    public void checkVersion(ZMTPVersion version, ZMTPMechanism mechanism) {
        if (!config.interop() && version != config.protocol()) {
            throw refused(version, config.protocol() + " without interop");
        }
        if (version.hasCommands()) {
            return;
        }
        if (!mechanism.allowsDowngrade()) {
            throw refused(version, "ZMTP30 or later with " + mechanism.name());
        }
        if (config.authenticator() != null) {
            throw refused(version, "ZMTP30 or later with an authenticator");
        }
        if (config.socketType().isDraft()) {
            throw refused(version, "ZMTP30 or later for a " + config.socketType());
        }
    }

    private static ZMTPException refused(ZMTPVersion version, String expected) {
        return ZMTPException.of(ZMTPException.Code.VERSION, "version of the peer", version, expected);
    }

    /**
     * Checks that a peer of this type may communicate with this side.
     *
     * @throws ZMTPException if the type is not allowed
     */
    public void checkSocketType(ZMTPSocketType peer) {
        if (!config.socketType().accepts(peer)) {
            throw wrongType(peer);
        }
    }

    /**
     * Performs the checks of the peer's metadata that every mechanism requires.
     *
     * @throws ZMTPException if the socket type does not match this side's type, or the identity is too long
     */
    public void checkMetadata(ZMTPMetadata peer) {
        ZMTPSocketType type = socketType(peer);
        String name = peer.valueUTF8(ZMTPMetadata.SOCKET_TYPE);
        if (type != null) {
            checkSocketType(type);
        } else if (name != null) {
            throw wrongType(name.substring(0, Math.min(name.length(), MAX_SHOWN)));
        }
        ByteBuffer identity = peer.value(ZMTPMetadata.IDENTITY);
        if (identity != null) {
            Greeting.checkIdentityLength(identity.remaining());
        }
    }

    private ZMTPException wrongType(Object peer) {
        return ZMTPException.of(
                ZMTPException.Code.SOCKET_TYPE, "socket type", peer, "one that " + config.socketType() + " talks to");
    }

    /** Returns the socket type that {@code peer} names, or null if it names no existing type. */
    public static @Nullable ZMTPSocketType socketType(ZMTPMetadata peer) {
        String name = peer.valueUTF8(ZMTPMetadata.SOCKET_TYPE);
        return name == null ? null : ZMTPSocketType.ofName(name);
    }
}
