/**
 * ZWS 2.0, which is ZMTP in frames of WebSocket (RFC 45 over RFC 6455). A translator stands before the codec, for which
 * the peer looks like a peer over tcp. Not exported.
 */
@NullMarked
package dev.zmtp.internal.websocket;

import org.jspecify.annotations.NullMarked;
