/**
 * The grammar of ZMTP: reading and writing of greetings, frames, commands and metadata.
 *
 * <p>This package uses no channels, handlers or threads, and has no policy for peers. A caller reads a length, checks
 * it against its own limit, and only then requests the body. Not exported.
 */
@NullMarked
package dev.zmtp.internal.wire;

import org.jspecify.annotations.NullMarked;
