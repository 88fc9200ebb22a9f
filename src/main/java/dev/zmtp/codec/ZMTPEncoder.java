package dev.zmtp.codec;

import java.io.Closeable;

/**
 * Writes an application's own type straight into frames, with no {@code ZMTPMessage} between.
 *
 * <p>Give the config a factory or a class with a constructor without arguments. Each connection has its own encoder, made
 * when its handshake is complete and called on the channel's event loop only.
 */
public interface ZMTPEncoder extends Closeable {

    /**
     * Tells {@code estimator} of each frame that {@link #encode} will write, with a size that it will not exceed. A size
     * that is too small costs time, one that is too large costs memory until the next flush.
     */
    void estimate(Object message, ZMTPEstimator estimator);

    /**
     * Writes {@code message} to {@code writer}, as one or more frames of which the last has no {@code more}.
     *
     * <p>The codec releases {@code message} afterwards, if it is reference-counted. An exception fails the promise of the
     * write and nothing else: whatever was written of the message is taken back.
     */
    void encode(Object message, ZMTPWriter writer);

    /** Lets go of what is held. Called exactly once, when the connection or its codec ends. */
    @Override
    void close();

    /** Makes an encoder for each connection. Shared by channels: must be thread safe. */
    @FunctionalInterface
    interface Factory {
        /** Returns a new encoder for the connection of {@code session}. */
        ZMTPEncoder encoder(ZMTPSession session);
    }
}
