/**
 * How a ZMTP 3.x connection is agreed on and secured: the mechanism SPI, and NULL.
 *
 * <p>A {@link dev.zmtp.mechanism.ZMTPMechanism} is one connection's side of the handshake that follows the greeting. It
 * takes and gives command bodies and knows no channel and no thread.
 */
@NullMarked
package dev.zmtp.mechanism;

import org.jspecify.annotations.NullMarked;
