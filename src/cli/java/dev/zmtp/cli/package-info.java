/** The command line. Its jar has everything that it needs; the library's jar has none of it. */
@NullMarked
package dev.zmtp.cli;

import org.jspecify.annotations.NullMarked;
