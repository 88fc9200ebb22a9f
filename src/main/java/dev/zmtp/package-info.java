/**
 * Vocabulary of ZMTP, with messages, subscriptions, socket types, versions, metadata and failures.
 *
 * <p>These classes are values without channels, handlers or threads, and do not depend on the other packages of the
 * library. To get started, read {@link dev.zmtp.ZMTPMessage} (the unit that is sent and received),
 * {@link dev.zmtp.ZMTPSocketType} (the sockets that can be connected), and then {@code dev.zmtp.codec.ZMTPCodec} (the
 * handler that decodes bytes into messages).
 */
@NullMarked
package dev.zmtp;

import org.jspecify.annotations.NullMarked;
