/** The memory that connections and sockets keep for their peers, and the bound of its sum. */
@NullMarked
package dev.zmtp.internal.memory;

import org.jspecify.annotations.NullMarked;
