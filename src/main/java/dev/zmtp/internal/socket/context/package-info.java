/** The settings, event loop, clock, events and counters that all parts of a socket share. */
@NullMarked
package dev.zmtp.internal.socket.context;

import org.jspecify.annotations.NullMarked;
