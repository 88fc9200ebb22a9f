/** Shared threads, logs and files. The package does not depend on the packages that use it. */
@NullMarked
package dev.zmtp.internal.runtime;

import org.jspecify.annotations.NullMarked;
