/**
 * Who may connect, and how a connection is secured: the mechanism SPI with NULL, PLAIN and CURVE, the authenticators, and the
 * keys and cryptography of CURVE.
 *
 * <p>A {@link dev.zmtp.security.ZMTPMechanism} is one connection's side of the handshake that follows the greeting. It takes and
 * gives command bodies and knows no channel and no thread. A {@link dev.zmtp.security.ZMTPAuthenticator} decides which peers
 * are accepted: by address, password or public key.
 */
@NullMarked
package dev.zmtp.security;

import org.jspecify.annotations.NullMarked;
