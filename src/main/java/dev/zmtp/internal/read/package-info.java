/** Conversion of received frames into messages, and the checks of frames. */
@NullMarked
package dev.zmtp.internal.read;

import org.jspecify.annotations.NullMarked;
