/**
 * Authentication of peers and security of connections, with the mechanisms NULL, PLAIN and CURVE, the interface for
 * other mechanisms, the authenticators, and the keys and cryptography of CURVE.
 *
 * <p>A {@link dev.zmtp.security.ZMTPMechanism} is one connection's side of the handshake after the greeting. It
 * receives and returns the bodies of commands, and does not depend on channels or threads. A
 * {@link dev.zmtp.security.ZMTPAuthenticator} decides which peers are accepted, by address, password, public key or TLS
 * certificate.
 */
@NullMarked
package dev.zmtp.security;

import org.jspecify.annotations.NullMarked;
