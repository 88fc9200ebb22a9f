/**
 * ZMTP over WebSocket (ZWS 2.0, RFC 45), for {@code ws} and {@code wss} endpoints of sockets, and for HTTP servers of
 * users. It needs {@code netty-codec-http}.
 */
@NullMarked
package dev.zmtp.websocket;

import org.jspecify.annotations.NullMarked;
