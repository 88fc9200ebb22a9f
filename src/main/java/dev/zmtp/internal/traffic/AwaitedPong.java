package dev.zmtp.internal.traffic;

/** A PING of ours, the answer to it, and what the answer shows: the peer has read all that was written before. */
final class AwaitedPong {

    /** How many of our bytes the peer has read for sure. */
    private long read;

    /** How many of them there were with the PING. */
    private long asked;

    private boolean open;

    /** A PING was written, and {@code bytesWritten} with it. */
    void asked(long bytesWritten) {
        asked = bytesWritten;
        open = true;
    }

    /** The PONG has arrived. */
    void answered() {
        if (open) {
            open = false;
            read = asked;
        }
    }

    boolean isOpen() {
        return open;
    }

    /** Returns how many bytes, the PING's own among them, the peer may have to read before it answers. */
    long bytesBefore() {
        return asked - read;
    }
}
