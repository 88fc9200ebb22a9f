/** Received frames into messages, and what is checked of them. */
@NullMarked
package dev.zmtp.internal.read;

import org.jspecify.annotations.NullMarked;
