package dev.zmtp.internal.capture;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Blocks of a pcapng file, in little-endian order (draft-ietf-opsawg-pcapng, section 4).
 *
 * <pre>
 *   type u32 | length u32 | body, padded to 4 bytes | length u32
 *   option: code u16 | length u16 | value, padded to 4 bytes
 * </pre>
 */
final class PcapngBlocks {

    static final int SECTION = 0x0a0d0d0a;
    static final int INTERFACE = 1;
    static final int STATISTICS = 5;
    static final int PACKET = 6;

    static final int BYTE_ORDER_MAGIC = 0x1a2b3c4d;

    /** Packets begin with an IP header. */
    static final int LINK_TYPE_RAW = 101;

    /** Offset of the number of the interface in a packet's block. */
    static final int INTERFACE_OFFSET = 8;

    static final int OPTION_COMMENT = 1;
    static final int OPTION_NAME = 2;
    static final int OPTION_DESCRIPTION = 3;
    static final int OPTION_APPLICATION = 4;
    static final int OPTION_RESOLUTION = 9;
    static final int OPTION_FLAGS = 2;
    static final int OPTION_BEGUN = 2;
    static final int OPTION_RECEIVED = 4;
    static final int OPTION_DROPPED = 5;

    /** Value of the flags of a packet that has arrived, and of a packet that was sent. */
    static final int IN = 1;

    static final int OUT = 2;

    private static final byte NANOSECONDS = 9;

    /** Type and two lengths. */
    private static final int AROUND = 12;

    private static final int PACKET_FIELDS = 20;
    private static final int END_OF_OPTIONS = 4;
    private static final int OPTION_HEADER = 4;

    /** Maximum length of a text in a file, so that a peer's text cannot make a block huge. */
    static final int MAX_TEXT = 1_024;

    /** Comment of the statistics of a file that has a predecessor or a successor. */
    static final String PART = "part of a capture of several files";

    /** The bytes of a character in UTF-8 after the first. */
    private static final int CONTINUATION = 0x80;

    private static final int CONTINUATION_MASK = 0xc0;

    private PcapngBlocks() {}

    static byte[] section(String application) {
        byte[] name = text(application);
        ByteBuffer block = block(SECTION, 16 + option(name.length) + END_OF_OPTIONS);
        block.putInt(BYTE_ORDER_MAGIC).putShort((short) 1).putShort((short) 0).putLong(-1);
        option(block, OPTION_APPLICATION, name);
        return end(block.putInt(0));
    }

    /** Returns the description of an interface whose times are nanoseconds. */
    static byte[] describe(String name, String description) {
        byte[] nameBytes = text(name);
        byte[] descriptionBytes = text(description);
        ByteBuffer block =
                block(INTERFACE, 8 + option(nameBytes.length) + option(descriptionBytes.length) + option(1) + 4);
        block.putShort((short) LINK_TYPE_RAW).putShort((short) 0).putInt(0); // packets are not limited, frames are
        option(block, OPTION_NAME, nameBytes);
        option(block, OPTION_DESCRIPTION, descriptionBytes);
        option(block, OPTION_RESOLUTION, new byte[] {NANOSECONDS});
        return end(block.putInt(0));
    }

    /** Returns the length of a packet's block. */
    static int packetLength(int captured, byte @Nullable [] comment) {
        int options = option(Integer.BYTES) + (comment == null ? 0 : option(comment.length));
        return AROUND + PACKET_FIELDS + padded(captured) + options + END_OF_OPTIONS;
    }

    /**
     * Returns a packet's block for interface 0, positioned at the packet's first byte.
     *
     * @param nanos time since 1970
     * @param captured number of bytes of the packet that follow
     * @param length length of the packet
     */
    static ByteBuffer beginPacket(long nanos, int captured, int length, byte @Nullable [] comment) {
        ByteBuffer block = block(PACKET, packetLength(captured, comment) - AROUND);
        return time(block.putInt(0), nanos).putInt(captured).putInt(length);
    }

    private static ByteBuffer time(ByteBuffer block, long nanos) {
        return block.putInt((int) (nanos >>> Integer.SIZE)).putInt((int) nanos);
    }

    static byte[] endPacket(ByteBuffer block, int direction, byte @Nullable [] comment) {
        block.position(padded(block.position()));
        if (comment != null) {
            option(block, OPTION_COMMENT, comment);
        }
        block.putShort((short) OPTION_FLAGS).putShort((short) Integer.BYTES).putInt(direction);
        return end(block.putInt(0));
    }

    /**
     * Returns the statistics of an interface.
     *
     * @param begun time at which the capture has begun
     * @param isPart whether the capture has other files, too
     */
    static byte[] statistics(int number, long nanos, long begun, long received, long dropped, boolean isPart) {
        byte[] comment = text(isPart ? PART : "");
        int options = 3 * option(Long.BYTES) + (isPart ? option(comment.length) : 0);
        ByteBuffer block = block(STATISTICS, 12 + options + END_OF_OPTIONS);
        time(block.putInt(number), nanos);
        time(block.putShort((short) OPTION_BEGUN).putShort((short) Long.BYTES), begun);
        block.putShort((short) OPTION_RECEIVED).putShort((short) Long.BYTES).putLong(received);
        block.putShort((short) OPTION_DROPPED).putShort((short) Long.BYTES).putLong(dropped);
        if (isPart) {
            option(block, OPTION_COMMENT, comment);
        }
        return end(block.putInt(0));
    }

    /** Sets the number of the interface of a packet's block. */
    static void setInterface(byte[] block, int number) {
        ByteBuffer.wrap(block).order(ByteOrder.LITTLE_ENDIAN).putInt(INTERFACE_OFFSET, number);
    }

    /** Returns the text as bytes of a file, shortened to at most {@value #MAX_TEXT} bytes. */
    static byte[] text(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length <= MAX_TEXT) {
            return bytes;
        }
        int end = MAX_TEXT;
        while ((bytes[end] & CONTINUATION_MASK) == CONTINUATION) { // not within a character
            end--;
        }
        return Arrays.copyOf(bytes, end);
    }

    private static ByteBuffer block(int type, int body) {
        int length = AROUND + body;
        return ByteBuffer.allocate(length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(type)
                .putInt(length);
    }

    @SuppressWarnings("ByteBufferBackingArray") // allocated by block
    private static byte[] end(ByteBuffer block) {
        return block.putInt(block.capacity()).array();
    }

    private static int option(int length) {
        return OPTION_HEADER + padded(length);
    }

    private static void option(ByteBuffer block, int code, byte[] value) {
        block.putShort((short) code).putShort((short) value.length).put(value);
        block.position(padded(block.position()));
    }

    static int padded(int length) {
        return (length + 3) & ~3;
    }
}
