/** Conversion of written objects into frames and of frames into buffers, and the results of the transport. */
@NullMarked
package dev.zmtp.internal.write;

import org.jspecify.annotations.NullMarked;
