/**
 * A client for ZAP, the ZeroMQ Authentication Protocol (RFC 27): an authenticator that asks a ZAP handler over a connection of
 * its own.
 *
 * <p>It is an ordinary handler of messages, which stands above the codec and uses nothing of it that an application could not.
 */
@NullMarked
package dev.zmtp.zap;

import org.jspecify.annotations.NullMarked;
