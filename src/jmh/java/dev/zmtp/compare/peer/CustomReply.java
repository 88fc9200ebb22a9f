package dev.zmtp.compare.peer;

import io.netty.buffer.ByteBuf;

/** The answer to a {@link CustomRequest}: its id, a status, and an empty payload. */
final class CustomReply {

    static final int STATUS_LENGTH = Integer.BYTES;

    private final long idHigh;
    private final long idLow;
    private final int status;

    CustomReply(long idHigh, long idLow, int status) {
        this.idHigh = idHigh;
        this.idLow = idLow;
        this.status = status;
    }

    void writeId(ByteBuf out) {
        out.writeLong(idHigh).writeLong(idLow);
    }

    void writeStatus(ByteBuf out) {
        out.writeInt(status);
    }
}
