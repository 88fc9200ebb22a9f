package dev.zmtp.internal.websocket;

/** The side of a WebSocket connection. Only the frames of a client are masked (RFC 6455, section 5.3). */
public enum WebSocketRole {
    /** Side that has sent the request for the upgrade. */
    CLIENT,
    /** Side that has answered the request. */
    SERVER
}
