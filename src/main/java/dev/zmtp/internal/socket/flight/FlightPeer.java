package dev.zmtp.internal.socket.flight;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The facts of a connection that has succeeded in its handshake.
 *
 * @param endpoint the text of the endpoint
 * @param type the type of the socket
 * @param accepted whether the peer has connected to this side
 * @param address the address of the peer
 * @param peerType the type of the peer's socket; null in ZMTP 1.0
 * @param version the version of ZMTP; null within the process
 * @param mechanism the name of the mechanism; null within the process
 */
public record FlightPeer(
        String endpoint,
        ZMTPSocketType type,
        boolean accepted,
        @Nullable SocketAddress address,
        @Nullable ZMTPSocketType peerType,
        @Nullable ZMTPVersion version,
        @Nullable String mechanism) {}
