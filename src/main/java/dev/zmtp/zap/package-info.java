/**
 * A client for ZAP, the ZeroMQ Authentication Protocol (RFC 27): an authenticator that asks a ZAP handler over its own
 * connection.
 *
 * <p>It is an ordinary handler of messages. It uses only what the codec offers to every application.
 */
@NullMarked
package dev.zmtp.zap;

import org.jspecify.annotations.NullMarked;
