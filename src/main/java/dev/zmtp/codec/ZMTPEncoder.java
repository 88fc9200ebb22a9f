package dev.zmtp.codec;

import java.io.Closeable;

/**
 * Encodes an application's own type directly into frames (RFC 37, "Framing"; RFC 23 for ZMTP 3.0), without a
 * {@code ZMTPMessage}.
 *
 * <p>Pass a factory, or a class with a constructor without arguments, to the config. Each connection has its own
 * encoder, created when its handshake is complete and called on the channel's event loop only.
 */
public interface ZMTPEncoder extends Closeable {

    /**
     * Reports the size of each frame that {@link #encode} will write to {@code estimator}, or an upper bound. An
     * estimate that is too small costs time, and an estimate that is too large costs memory until the next flush.
     */
    void estimate(Object message, ZMTPEstimator estimator);

    /**
     * Writes {@code message} to {@code writer} as one or more frames. The last frame must be written without
     * {@code more}.
     *
     * <p>{@code Unpooled.EMPTY_BUFFER} is never passed to this method, because it is a barrier ({@link ZMTPCodec}). The
     * codec releases {@code message} afterwards if it is reference-counted. An exception only fails the promise of the
     * write, and the frames already written are discarded.
     */
    void encode(Object message, ZMTPWriter writer);

    /** Releases resources. Called exactly once, when the connection or its codec ends. */
    @Override
    void close();

    /** Creates an encoder for each connection. Shared by channels, so it must be thread safe. */
    @FunctionalInterface
    interface Factory {
        /** Returns a new encoder for the connection of {@code session}. */
        ZMTPEncoder encoder(ZMTPSession session);
    }
}
