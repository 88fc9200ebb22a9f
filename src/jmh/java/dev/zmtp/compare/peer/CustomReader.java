package dev.zmtp.compare.peer;

import io.netty.buffer.ByteBuf;

/** Reads requests and replies from frames, for the decoder of any library. Each connection has its own. */
final class CustomReader {

    private static final int MAX_LENGTH = 1000;

    private int frame;
    private int length;
    private long idHigh;
    private long idLow;
    private byte[] text;
    private byte[] uri;
    private int status;

    /** A frame of {@code length} bytes starts. */
    void header(long length) {
        if (length > MAX_LENGTH) {
            throw new IllegalArgumentException("frame length: " + length + " (expected: <= " + MAX_LENGTH + ")");
        }
        this.length = (int) length;
        frame++;
    }

    /** Reads the frame of a request, once all of it is there. */
    void request(ByteBuf in) {
        if (in.readableBytes() < length || length == 0) {
            return;
        }
        if (frame == 1) {
            readId(in);
        } else {
            uri = text;
            text = new byte[length];
            in.readBytes(text);
        }
    }

    /** Reads the frame of a reply, once all of it is there. */
    void reply(ByteBuf in) {
        if (in.readableBytes() < length || length == 0) {
            return;
        }
        if (frame == 1) {
            readId(in);
        } else {
            status = in.readInt();
        }
    }

    private void readId(ByteBuf in) {
        idHigh = in.readLong();
        idLow = in.readLong();
    }

    /** The request is complete. */
    CustomRequest request() {
        frame = 0;
        return new CustomRequest(idHigh, idLow, uri, text);
    }

    /** The reply is complete. */
    CustomReply reply() {
        frame = 0;
        return new CustomReply(idHigh, idLow, status);
    }
}
