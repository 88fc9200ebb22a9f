package dev.zmtp.internal.websocket;

import org.jspecify.annotations.Nullable;

/**
 * A sub-protocol of ZWS 2.0, on which both sides agree in the upgrade.
 *
 * @param mechanism name of the ZMTP security mechanism; null for connections without a handshake of ZMTP, where a peer
 *     sends its identity and then messages
 */
public record ZwsProtocol(@Nullable String mechanism) {

    /** The sub-protocol without a mechanism. */
    public static final ZwsProtocol BARE = new ZwsProtocol(null);

    private static final String NAME = "ZWS2.0";

    /** Returns the name of the sub-protocol in an upgrade, such as {@code ZWS2.0/NULL}. */
    public String text() {
        return mechanism == null ? NAME : NAME + "/" + mechanism;
    }
}
