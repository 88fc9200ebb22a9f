/**
 * ZMTP on a Netty pipeline: {@link dev.zmtp.codec.ZMTPCodec} and what belongs to it.
 *
 * <p>{@link dev.zmtp.codec.ZMTPCodec} is the handler, {@link dev.zmtp.codec.ZMTPConfig} what it is told,
 * {@link dev.zmtp.codec.ZMTPSession} what it learnt of the peer, {@link dev.zmtp.codec.ZMTPHandshakeSuccess} and
 * {@link dev.zmtp.codec.ZMTPHandshakeFailure} the events that it fires. {@link dev.zmtp.codec.ZMTPEncoder} and
 * {@link dev.zmtp.codec.ZMTPDecoder} turn an application's own types into frames and back without a message between them.
 * {@link dev.zmtp.codec.BatchFlusher} makes one flush of many.
 */
@NullMarked
package dev.zmtp.codec;

import org.jspecify.annotations.NullMarked;
