/** Subscriptions, and messages for all peers that want them. */
@NullMarked
package dev.zmtp.internal.socket.publish;

import org.jspecify.annotations.NullMarked;
