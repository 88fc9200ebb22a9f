/**
 * The grammar of ZMTP: greetings, frames, commands and metadata, from bytes and to bytes.
 *
 * <p>Nothing here knows a channel, a handler or a thread, and nothing decides what a peer may do: a caller reads a
 * length, checks it against its own limit, and only then asks for the body. Not exported.
 */
@NullMarked
package dev.zmtp.internal.wire;

import org.jspecify.annotations.NullMarked;
