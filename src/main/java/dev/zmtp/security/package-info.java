/**
 * Which peers are accepted, and how a connection is secured: the mechanisms NULL, PLAIN and CURVE and the interface for
 * others, the authenticators, and the keys and cryptography of CURVE.
 *
 * <p>A {@link dev.zmtp.security.ZMTPMechanism} is one connection's side of the handshake after the greeting. It
 * receives and returns the bodies of commands, and knows no channel and no thread. A
 * {@link dev.zmtp.security.ZMTPAuthenticator} decides which peers are accepted: by address, password, public key or TLS
 * certificate.
 */
@NullMarked
package dev.zmtp.security;

import org.jspecify.annotations.NullMarked;
