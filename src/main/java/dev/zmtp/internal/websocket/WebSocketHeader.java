package dev.zmtp.internal.websocket;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/**
 * The header of the frame that is being read. It can arrive in pieces of any size, and its received part is all that is
 * retained. Checks nothing, because the limits and rules are those of the caller.
 */
final class WebSocketHeader {

    private static final int SHORTEST = 2;
    private static final int KEY_LENGTH = 4;

    /** The received part of a header. On the heap and unpooled, so that it needs no release. */
    private @Nullable ByteBuf split;

    private int first;
    private boolean masked;
    private long length;
    private int key;

    /** Reads the part of the header in {@code in}. Returns whether the header is complete. */
    boolean read(ByteBuf in) {
        if (isSplit()) {
            return readSplit(in);
        }
        if (in.readableBytes() >= headerLength(in)) {
            parse(in);
            return true;
        }
        if (in.isReadable()) {
            if (split == null) {
                split = Unpooled.buffer(WebSocketFrames.MAX_HEADER, WebSocketFrames.MAX_HEADER);
            }
            split.clear().writeBytes(in);
        }
        return false;
    }

    /** Returns whether a part of a header has arrived. */
    boolean isSplit() {
        return split != null && split.isReadable();
    }

    private boolean readSplit(ByteBuf in) {
        ByteBuf header = split;
        if (header == null) {
            return false;
        }
        for (int missing = missing(header); missing > 0; missing = missing(header)) {
            if (!in.isReadable()) {
                return false;
            }
            header.writeBytes(in, Math.min(missing, in.readableBytes()));
        }
        parse(header);
        header.clear();
        return true;
    }

    private static int missing(ByteBuf header) {
        return headerLength(header) - header.readableBytes();
    }

    /** Returns the length of the header at the reader index, at least as far as it is known. */
    private static int headerLength(ByteBuf in) {
        if (in.readableBytes() < SHORTEST) {
            return SHORTEST;
        }
        int second = in.getUnsignedByte(in.readerIndex() + 1);
        int lengthBytes = switch (second & ~WebSocketFrames.MASK) {
            case WebSocketFrames.LENGTH_OF_2_BYTES -> Short.BYTES;
            case WebSocketFrames.LENGTH_OF_8_BYTES -> Long.BYTES;
            default -> 0;
        };
        return SHORTEST + lengthBytes + ((second & WebSocketFrames.MASK) == 0 ? 0 : KEY_LENGTH);
    }

    private void parse(ByteBuf in) {
        first = in.readUnsignedByte();
        int second = in.readUnsignedByte();
        masked = (second & WebSocketFrames.MASK) != 0;
        length = switch (second & ~WebSocketFrames.MASK) {
            case WebSocketFrames.LENGTH_OF_2_BYTES -> in.readUnsignedShort();
            case WebSocketFrames.LENGTH_OF_8_BYTES -> in.readLong();
            default -> second & ~WebSocketFrames.MASK;
        };
        key = masked ? in.readInt() : 0;
    }

    boolean isFinal() {
        return (first & WebSocketFrames.FIN) != 0;
    }

    /** Returns the bits that only extensions use. */
    int rsv() {
        return first & WebSocketFrames.RSV;
    }

    int opcode() {
        return first & WebSocketFrames.OPCODE;
    }

    boolean isControl() {
        return opcode() >= WebSocketFrames.CLOSE;
    }

    boolean isMasked() {
        return masked;
    }

    /** Returns the length of the payload in bytes, negative if its top bit is set. */
    long length() {
        return length;
    }

    /** Returns the key of the mask, or 0 if the payload is not masked. */
    int key() {
        return key;
    }
}
