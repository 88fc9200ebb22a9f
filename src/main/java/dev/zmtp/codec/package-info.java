/**
 * ZMTP on a Netty pipeline, with {@link dev.zmtp.codec.ZMTPCodec} and its companions.
 *
 * <p>{@link dev.zmtp.codec.ZMTPCodec} is the handler and {@link dev.zmtp.codec.ZMTPConfig} its settings.
 * {@link dev.zmtp.codec.ZMTPSession} describes the peer. {@link dev.zmtp.codec.ZMTPHandshakeSuccess} and
 * {@link dev.zmtp.codec.ZMTPHandshakeFailure} are the events that the codec fires. {@link dev.zmtp.codec.ZMTPEncoder}
 * and {@link dev.zmtp.codec.ZMTPDecoder} convert an application's own types to frames and back, without an intermediate
 * message. {@link dev.zmtp.codec.BatchFlusher} combines flushes.
 */
@NullMarked
package dev.zmtp.codec;

import org.jspecify.annotations.NullMarked;
