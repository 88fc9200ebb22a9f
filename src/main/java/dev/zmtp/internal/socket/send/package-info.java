/** From any thread to the peer that a message is for: acceptance, routing, and who waits for room. */
@NullMarked
package dev.zmtp.internal.socket.send;

import org.jspecify.annotations.NullMarked;
