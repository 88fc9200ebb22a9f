/** From any thread to the receiver of a message: acceptance, routing, and waiting for room. */
@NullMarked
package dev.zmtp.internal.socket.send;

import org.jspecify.annotations.NullMarked;
