package dev.zmtp.internal.capture;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Reads the blocks of a file, one after the other, with a buffer of {@value #MAX_BLOCK} bytes. */
final class PcapngReader {

    /** Maximum length of a block. A capture writes none that is longer. */
    static final int MAX_BLOCK = 64 << 10;

    /** Type and two lengths. */
    private static final int AROUND = 12;

    private static final int SECTION_FIELDS = 16;
    private static final int HEADER = 8;

    private final RecordingSource source;
    private final long size;
    private final ByteBuffer buffer = ByteBuffer.allocate(MAX_BLOCK).order(ByteOrder.LITTLE_ENDIAN);
    private long position;
    private int type;
    private ByteBuffer body = ByteBuffer.allocate(0);
    private boolean cut;

    /** @param size number of bytes that are read. Those that are written later are not */
    PcapngReader(RecordingSource source, long size) {
        this.source = source;
        this.size = size;
        buffer.limit(0);
    }

    /** Reads the section, which is the first block. */
    void begin() throws IOException {
        if (!next()) {
            throw new IOException("file length: " + size + " (expected: >= 28, a section of pcapng)");
        }
        check("block type", hex(type), hex(PcapngBlocks.SECTION) + ", a section of pcapng");
        if (body.remaining() < SECTION_FIELDS) {
            throw new IOException("section length: " + body.remaining() + " (expected: >= " + SECTION_FIELDS + ")");
        }
        check("byte order", hex(body.getInt()), hex(PcapngBlocks.BYTE_ORDER_MAGIC) + ", little-endian");
        check("version of pcapng", body.getShort() + "." + body.getShort(), "1.0");
    }

    /** Returns the exception for a value that a recording cannot have. */
    static IOException wrong(String name, Object value, String expected) {
        return new IOException(name + ": " + value + " (expected: " + expected + ")");
    }

    private static void check(String name, String value, String expected) throws IOException {
        if (!value.equals(expected.replaceFirst(",.*", ""))) {
            throw wrong(name, value, expected);
        }
    }

    private static String hex(int value) {
        return "0x%08x".formatted(value);
    }

    /** Moves to the next block. Returns false at the end, and before a block that is not whole. */
    boolean next() throws IOException {
        if (!fill(HEADER)) {
            cut = buffer.hasRemaining();
            return false;
        }
        int start = buffer.position();
        long length = Integer.toUnsignedLong(buffer.getInt(start + Integer.BYTES));
        if (length < AROUND || length > MAX_BLOCK || length % Integer.BYTES != 0) {
            throw new IOException("block length: " + length + " (expected: " + AROUND + " to " + MAX_BLOCK
                    + ", a multiple of " + Integer.BYTES + ")");
        }
        if (!fill((int) length)) {
            cut = true;
            return false;
        }
        start = buffer.position();
        type = buffer.getInt(start);
        body = buffer.slice(start + HEADER, (int) length - AROUND).order(ByteOrder.LITTLE_ENDIAN);
        buffer.position(start + (int) length);
        long repeated = Integer.toUnsignedLong(buffer.getInt(buffer.position() - Integer.BYTES));
        if (repeated != length) {
            throw new IOException("block length: " + repeated + " at its end (expected: " + length + ")");
        }
        return true;
    }

    /** Returns whether the buffer has this number of bytes, after reading what there is room for if it had not. */
    private boolean fill(int bytes) throws IOException {
        if (buffer.remaining() >= bytes) {
            return true;
        }
        buffer.compact();
        buffer.limit((int) Math.min(buffer.capacity(), buffer.position() + size - position));
        while (buffer.hasRemaining()) {
            int read = source.read(buffer, position);
            if (read <= 0) {
                throw new IOException(
                        "file length: <= " + position + " (expected: " + size + ", as when the file was opened)");
            }
            position += read;
        }
        buffer.flip();
        return buffer.remaining() >= bytes;
    }

    int type() {
        return type;
    }

    /** Returns what is between the lengths of the block, which is valid until the next block is read. */
    ByteBuffer body() {
        return body;
    }

    /** Returns whether the file has ended within a block. */
    boolean isCut() {
        return cut;
    }
}
