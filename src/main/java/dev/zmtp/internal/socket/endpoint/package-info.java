/** The endpoints that a socket is bound to and connects to, and the channels that they create. */
@NullMarked
package dev.zmtp.internal.socket.endpoint;

import org.jspecify.annotations.NullMarked;
