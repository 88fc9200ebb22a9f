/** A peer of a socket: its connection, the messages waiting for it, and the policy for too many of them. */
@NullMarked
package dev.zmtp.internal.socket.peer;

import org.jspecify.annotations.NullMarked;
