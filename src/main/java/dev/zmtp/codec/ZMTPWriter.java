package dev.zmtp.codec;

import io.netty.buffer.ByteBuf;

/**
 * Sink for the frames that a {@link ZMTPEncoder} writes for one message (RFC 37, "Framing"; RFC 23 for ZMTP 3.0). The
 * frames go directly into the buffer for the transport.
 *
 * <p>Valid only during a call of {@link ZMTPEncoder#encode}.
 */
public interface ZMTPWriter {

    /**
     * Starts a frame.
     *
     * <p>All frames go to the same buffer, which this method returns. Append exactly {@code size} bytes at its writer
     * index, or call {@link #reframe} if there are fewer, and change nothing else of it.
     *
     * @param size the length of the body in bytes
     * @param more whether another frame follows
     * @return the buffer to append the body to, which the codec releases
     */
    ByteBuf frame(int size, boolean more);

    /**
     * Corrects the size and the flag of the most recently started frame.
     *
     * @param size the length that its body has or will have, at most the last value
     * @param more whether another frame follows
     * @return the buffer to append the body to, which the codec releases
     */
    ByteBuf reframe(int size, boolean more);
}
