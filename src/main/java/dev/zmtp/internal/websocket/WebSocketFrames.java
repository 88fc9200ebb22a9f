package dev.zmtp.internal.websocket;

import io.netty.buffer.ByteBuf;

/**
 * Layout of a WebSocket frame (RFC 6455, section 5.2).
 *
 * <pre>
 *    7   6 5 4   3 .. 0      7      6 .. 0
 *  +-----+-----+--------+  +------+--------+  +-----------------+  +-------+  +-----------------+
 *  | FIN | RSV | opcode |  | MASK | length |  | length: 0, 2, 8 |  | key:4 |  | payload[length] |
 *  +-----+-----+--------+  +------+--------+  +-----------------+  +-------+  +-----------------+
 *                                  0 .. 125     none                 if MASK
 *                                  126, 127     2, 8 bytes
 * </pre>
 */
final class WebSocketFrames {

    static final int CONTINUATION = 0x0;
    static final int TEXT = 0x1;
    static final int BINARY = 0x2;
    static final int CLOSE = 0x8;
    static final int PING = 0x9;
    static final int PONG = 0xa;

    static final int FIN = 0x80;
    static final int RSV = 0x70;
    static final int OPCODE = 0x0f;
    static final int MASK = 0x80;

    /** Marks of the lengths that do not fit into seven bits. */
    static final int LENGTH_OF_2_BYTES = 126;

    static final int LENGTH_OF_8_BYTES = 127;

    /** Maximum length of a header, in bytes. */
    static final int MAX_HEADER = 14;

    /** Maximum length of the payload of a control frame, in bytes. */
    static final int MAX_CONTROL = 125;

    // Statuses of close frames (section 7.4.1)
    static final int NORMAL = 1000;
    static final int PROTOCOL_ERROR = 1002;
    static final int UNSUPPORTED_DATA = 1003;
    static final int TOO_BIG = 1009;
    static final int INTERNAL_ERROR = 1011;

    private static final int MAX_LENGTH_OF_2_BYTES = 0xffff;

    private WebSocketFrames() {}

    /** Appends the header of an unfragmented frame, except for the key. */
    static void writeHeader(ByteBuf out, int opcode, boolean masked, long length) {
        int start = (FIN | opcode) << Byte.SIZE | (masked ? MASK : 0);
        if (length <= MAX_CONTROL) {
            out.writeShort(start | (int) length);
        } else if (length <= MAX_LENGTH_OF_2_BYTES) {
            out.writeShort(start | LENGTH_OF_2_BYTES).writeShort((int) length);
        } else {
            out.writeShort(start | LENGTH_OF_8_BYTES).writeLong(length);
        }
    }
}
