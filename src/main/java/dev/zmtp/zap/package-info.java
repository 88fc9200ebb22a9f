/**
 * Client for ZAP, the ZeroMQ Authentication Protocol (RFC 27). It is an authenticator that queries a ZAP handler over a
 * separate connection.
 *
 * <p>It is an ordinary message handler that only uses features of the codec available to every application.
 */
@NullMarked
package dev.zmtp.zap;

import org.jspecify.annotations.NullMarked;
