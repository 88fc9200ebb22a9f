/** Threads, logs and files that several rooms need. It knows none of them. */
@NullMarked
package dev.zmtp.internal.runtime;

import org.jspecify.annotations.NullMarked;
