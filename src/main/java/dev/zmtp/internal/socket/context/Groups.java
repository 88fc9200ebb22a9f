package dev.zmtp.internal.socket.context;

import dev.zmtp.ZMTPMembership;
import io.netty.buffer.ByteBuf;

/** Group names. A name has up to 255 bytes, none of which is 0 (RFC 48). */
public final class Groups {

    private Groups() {}

    static boolean isValid(ByteBuf name) {
        return name.refCnt() > 0
                && name.readableBytes() <= ZMTPMembership.MAX_GROUP_LENGTH
                && name.bytesBefore((byte) 0) < 0;
    }

    /** Throws if the readable bytes are not a valid group name. */
    static void check(ByteBuf name) {
        if (name.readableBytes() > ZMTPMembership.MAX_GROUP_LENGTH) {
            throw new IllegalArgumentException("group length: " + name.readableBytes() + " (expected: <= "
                    + ZMTPMembership.MAX_GROUP_LENGTH + ")");
        }
        int zero = name.bytesBefore((byte) 0);
        if (zero >= 0) {
            throw new IllegalArgumentException("group: 0 at byte " + zero + " (expected: another)");
        }
    }
}
