package dev.zmtp.internal.websocket;

import dev.zmtp.ZMTPFraming;
import io.netty.buffer.ByteBuf;

/** Headers of ZMTP frames that are written in front of bodies which are there already. */
final class ZmtpHeaders {

    /** Maximum length of a header, in bytes. */
    static final int MAX = 9;

    private ZmtpHeaders() {}

    /** Returns the length of the header of a body of {@code length} bytes. */
    static int length(long length) {
        return length <= ZMTPFraming.V3.maxShortBody() ? 2 : MAX;
    }

    /** Writes the header of a body of {@code length} bytes at {@code index}. Moves no index of the buffer. */
    static void set(ByteBuf out, int index, int flags, long length) {
        if (length(length) == MAX) {
            out.setByte(index, flags | ZMTPFraming.LONG);
            out.setLong(index + 1, length);
        } else {
            out.setShort(index, ZMTPFraming.V3.shortHeader(flags, (int) length));
        }
    }
}
