/**
 * ZMTP on a Netty pipeline: {@link dev.zmtp.codec.ZMTPCodec} and what belongs to it.
 *
 * <p>{@link dev.zmtp.codec.ZMTPCodec} is the handler and {@link dev.zmtp.codec.ZMTPConfig} its settings.
 * {@link dev.zmtp.codec.ZMTPSession} has what is known of the peer. {@link dev.zmtp.codec.ZMTPHandshakeSuccess} and
 * {@link dev.zmtp.codec.ZMTPHandshakeFailure} are the events that the codec fires. {@link dev.zmtp.codec.ZMTPEncoder}
 * and {@link dev.zmtp.codec.ZMTPDecoder} turn an application's own types into frames and back, with no message between.
 * {@link dev.zmtp.codec.BatchFlusher} makes one flush of many.
 */
@NullMarked
package dev.zmtp.codec;

import org.jspecify.annotations.NullMarked;
