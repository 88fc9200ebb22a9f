/** One peer of a socket: its connection, the messages that wait for it, and the policy when they are too many. */
@NullMarked
package dev.zmtp.internal.socket.peer;

import org.jspecify.annotations.NullMarked;
