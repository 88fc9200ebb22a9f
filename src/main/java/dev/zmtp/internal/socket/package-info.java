/** A whole socket: its parts from the packages below, the steps when a peer is connected and leaves, and its end. */
@NullMarked
package dev.zmtp.internal.socket;

import org.jspecify.annotations.NullMarked;
