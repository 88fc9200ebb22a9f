/** From the peers to the application: the queues of received messages, and the ways to take them. */
@NullMarked
package dev.zmtp.internal.socket.receive;

import org.jspecify.annotations.NullMarked;
