/** The phase of messages and commands in both directions. */
@NullMarked
package dev.zmtp.internal.traffic;

import org.jspecify.annotations.NullMarked;
