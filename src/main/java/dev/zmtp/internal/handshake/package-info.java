/** The phases before traffic, from the connect to the end of the handshake. */
@NullMarked
package dev.zmtp.internal.handshake;

import org.jspecify.annotations.NullMarked;
