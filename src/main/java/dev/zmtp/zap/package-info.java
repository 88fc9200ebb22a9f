/**
 * Clients for ZAP, the ZeroMQ Authentication Protocol (RFC 27). These authenticators query a ZAP handler, one over a
 * separate connection and one over a socket.
 *
 * <p>They only use features of the codec and of sockets that are available to every application.
 */
@NullMarked
package dev.zmtp.zap;

import org.jspecify.annotations.NullMarked;
