package dev.zmtp.internal.traffic;

/** A PING of this side and its PONG, which shows that the peer has read all bytes written before the PING. */
final class AwaitedPong {

    /** The number of bytes that the peer has certainly read. */
    private long read;

    /** The number of bytes written, including the PING. */
    private long asked;

    private boolean open;

    /** Notes that a PING was written, as the last of {@code bytesWritten}. */
    void asked(long bytesWritten) {
        asked = bytesWritten;
        open = true;
    }

    /** Notes that the PONG has arrived. */
    void answered() {
        open = false;
        read = asked;
    }

    /** Notes that a PONG has arrived, before which the peer might not have read this many bytes up to the PING. */
    void answeredUncertainly(long bytes) {
        if (open) {
            open = false;
            read = Math.max(read, asked - bytes);
        }
    }

    boolean isOpen() {
        return open;
    }

    /** Returns the maximum number of bytes, including the PING, that the peer has to read before it replies. */
    long bytesBefore() {
        return asked - read;
    }
}
