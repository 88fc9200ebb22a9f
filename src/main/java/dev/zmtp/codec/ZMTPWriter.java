package dev.zmtp.codec;

import io.netty.buffer.ByteBuf;

/**
 * The place where a {@link ZMTPEncoder} writes the frames of one message (RFC 37, "Framing"; RFC 23 for ZMTP 3.0):
 * straight into the buffer that goes to the transport.
 *
 * <p>Valid during one call of {@link ZMTPEncoder#encode}.
 */
public interface ZMTPWriter {

    /**
     * Starts a frame.
     *
     * <p>All frames go to one buffer, which this method returns: append exactly {@code size} bytes at its writer index,
     * or call {@link #reframe} if there are fewer, and change nothing else of it.
     *
     * @param size the length of the body in bytes
     * @param more whether another frame follows
     * @return the buffer to append the body to, which the codec releases
     */
    ByteBuf frame(int size, boolean more);

    /**
     * Corrects the size and the flag of the frame that was started last.
     *
     * @param size the length that its body has, or will have: at most what was given last
     * @param more whether another frame follows
     * @return the buffer to append the body to, which the codec releases
     */
    ByteBuf reframe(int size, boolean more);
}
