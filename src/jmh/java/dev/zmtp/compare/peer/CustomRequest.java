package dev.zmtp.compare.peer;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/** A request of an application with its own codec: an id of 16 bytes, what is asked for, how, and an empty payload. */
final class CustomRequest {

    static final int ID_LENGTH = 2 * Long.BYTES;

    private static final byte[] URI = "zmtp://service/resource/42".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] METHOD = "GET".getBytes(StandardCharsets.US_ASCII);

    private final long idHigh;
    private final long idLow;
    private final byte[] uri;
    private final byte[] method;

    CustomRequest(long idHigh, long idLow, byte[] uri, byte[] method) {
        this.idHigh = idHigh;
        this.idLow = idLow;
        this.uri = uri;
        this.method = method;
    }

    static CustomRequest get(long id) {
        return new CustomRequest(~id, id, URI, METHOD);
    }

    /** The answer that all is well. */
    CustomReply ok() {
        if (uri.length != URI.length || method.length != METHOD.length) {
            throw new IllegalStateException("request: another one (expected: as it was asked)");
        }
        return new CustomReply(idHigh, idLow, 200);
    }

    void writeId(ByteBuf out) {
        out.writeLong(idHigh).writeLong(idLow);
    }

    byte[] uri() {
        return uri;
    }

    byte[] method() {
        return method;
    }
}
