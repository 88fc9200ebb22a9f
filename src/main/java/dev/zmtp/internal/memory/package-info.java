/** The memory that connections and sockets retain for their peers, and its limit. */
@NullMarked
package dev.zmtp.internal.memory;

import org.jspecify.annotations.NullMarked;
