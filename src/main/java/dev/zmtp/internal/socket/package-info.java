/** One whole socket: its parts from the rooms below, what follows when a peer comes and goes, and its end. */
@NullMarked
package dev.zmtp.internal.socket;

import org.jspecify.annotations.NullMarked;
