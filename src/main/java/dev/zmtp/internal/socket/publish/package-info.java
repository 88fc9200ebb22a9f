/** Subscriptions, and messages for all peers that have subscribed to them. */
@NullMarked
package dev.zmtp.internal.socket.publish;

import org.jspecify.annotations.NullMarked;
