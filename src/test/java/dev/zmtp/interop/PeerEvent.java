package dev.zmtp.interop;

/**
 * What another implementation's monitor reports about one connection.
 *
 * @param kind what happened
 * @param status the ZAP status of an authentication that failed; otherwise 0
 */
public record PeerEvent(Kind kind, int status) {

    /** What can happen. */
    public enum Kind {
        /** The handshake is complete. JeroMQ does not report this. */
        SUCCEEDED,
        /** The connection ended during the handshake. JeroMQ reports only that it ended. */
        FAILED,
        /** The handshake broke the protocol. */
        FAILED_PROTOCOL,
        /** The handler of ZAP, or the other side's, refused. */
        FAILED_AUTHENTICATION,
        /** The connection ended, during the handshake or after it. */
        DISCONNECTED
    }

    static PeerEvent of(Kind kind) {
        return new PeerEvent(kind, 0);
    }

    static PeerEvent refused(int status) {
        return new PeerEvent(Kind.FAILED_AUTHENTICATION, status);
    }
}
