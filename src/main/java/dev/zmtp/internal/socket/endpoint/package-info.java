/** The endpoints that a socket is bound and connects to, and the channels that they make. */
@NullMarked
package dev.zmtp.internal.socket.endpoint;

import org.jspecify.annotations.NullMarked;
