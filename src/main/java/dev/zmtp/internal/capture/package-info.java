/** What a capture is made of: blocks of a file, packets of a connection, and the thread that writes them. */
@NullMarked
package dev.zmtp.internal.capture;

import org.jspecify.annotations.NullMarked;
