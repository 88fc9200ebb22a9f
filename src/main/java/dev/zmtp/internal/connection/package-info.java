/**
 * A connection in every phase: its parts, the transitions between phases, its reads, the memory that it retains, and
 * its end.
 */
@NullMarked
package dev.zmtp.internal.connection;

import org.jspecify.annotations.NullMarked;
