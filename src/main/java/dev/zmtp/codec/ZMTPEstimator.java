package dev.zmtp.codec;

/** Adds up the encoded size of a message, including headers, so that the message is written to a single buffer. */
public interface ZMTPEstimator {

    /** Resets the sum to 0. */
    void reset();

    /** Adds a frame whose body has at most {@code size} bytes. */
    void frame(int size);

    /**
     * Returns the current sum, in bytes.
     *
     * @throws ArithmeticException if the sum exceeds 2^31 - 1
     */
    int size();
}
