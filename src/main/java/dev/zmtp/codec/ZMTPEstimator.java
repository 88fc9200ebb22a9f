package dev.zmtp.codec;

/** Adds up the bytes that a message will take, including headers, so that it is written into one buffer. */
public interface ZMTPEstimator {

    /** Starts again at 0. */
    void reset();

    /** Adds a frame whose body has at most {@code size} bytes. */
    void frame(int size);

    /**
     * The sum so far, in bytes.
     *
     * @throws ArithmeticException if it is more than 2^31 - 1
     */
    int size();
}
