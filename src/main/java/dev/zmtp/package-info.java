/**
 * The vocabulary of ZMTP: messages, subscriptions, socket types, versions, metadata and failures.
 *
 * <p>These are values: no channel, no handler, no thread, and no dependency on the other packages of the library. Read
 * in this order: {@link dev.zmtp.ZMTPMessage} (what is sent and received), {@link dev.zmtp.ZMTPSocketType} (which
 * sockets can be connected), then {@code dev.zmtp.codec.ZMTPCodec} (where bytes become messages).
 */
@NullMarked
package dev.zmtp;

import org.jspecify.annotations.NullMarked;
