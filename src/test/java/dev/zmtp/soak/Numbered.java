package dev.zmtp.soak;

import dev.zmtp.ZMTPMessage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;

/**
 * The header of a soak message: its stream, its number in it, and whether the stream ends with it.
 *
 * <p>This stands in a header of 28 bytes at the start of the first frame, with the number of frames, the bytes of all
 * of them, and a checksum over the header, the bytes and the length of each frame. So a message whose frames were cut,
 * mixed with others, joined or changed is not taken for a message.
 */
record Numbered(long stream, long number, boolean end) {

    /** The first byte of each message, and so a topic to subscribe to. */
    static final String TOPIC = "z";

    /** Bytes of the header. */
    static final int HEADER = 28;

    private static final int CRC_AT = HEADER - Integer.BYTES;
    private static final int MAX_FRAME = 1 << 20;

    /** Bytes that look random; a frame is some part of them. */
    private static final byte[] OCTETS = new byte[2 * MAX_FRAME];

    static {
        new Random(1).nextBytes(OCTETS);
    }

    /** Returns a message with this header, of one to five frames whose sizes {@code shape} chooses. */
    ZMTPMessage toMessage(ByteBufAllocator alloc, Random shape) {
        return toMessage(alloc, shape, end ? new int[] {0} : lengths(shape));
    }

    /** Returns a message with this header and frames of these lengths, the first of which also has the header. */
    ZMTPMessage toMessage(ByteBufAllocator alloc, Random shape, int... lengths) {
        List<ByteBuf> frames = new ArrayList<>(lengths.length);
        int total = HEADER;
        for (int i = 0; i < lengths.length; i++) {
            int header = i == 0 ? HEADER : 0;
            ByteBuf frame = alloc.buffer(header + lengths[i]);
            frame.writerIndex(header).writeBytes(OCTETS, shape.nextInt(MAX_FRAME), lengths[i]);
            frames.add(frame);
            total += lengths[i];
        }
        frames.get(0)
                .setByte(0, TOPIC.charAt(0))
                .setByte(1, end ? 1 : 0)
                .setShort(2, lengths.length)
                .setInt(4, total)
                .setLong(8, stream)
                .setLong(16, number);
        frames.get(0).setInt(CRC_AT, crc(frames));
        return ZMTPMessage.from(frames);
    }

    /** Most frames are small, a few are large, and one in a hundred may have as much as 1 MiB. */
    private static int[] lengths(Random shape) {
        int[] lengths = new int[1 + shape.nextInt(5)];
        for (int i = 0; i < lengths.length; i++) {
            int dice = shape.nextInt(100);
            int most = dice < 60 ? 100 : dice < 85 ? 1_000 : dice < 95 ? 16 << 10 : dice < 99 ? 128 << 10 : MAX_FRAME;
            lengths[i] = shape.nextInt(most + 1);
        }
        return lengths;
    }

    /**
     * Reads the header of {@code message}, which stays the caller's.
     *
     * @throws TornException if it is not what its header says
     */
    static Numbered of(ZMTPMessage message) throws TornException {
        ByteBuf first = message.frame(0);
        if (first.readableBytes() < HEADER) {
            throw new TornException("first frame: " + first.readableBytes() + " bytes (expected: >= " + HEADER + ")");
        }
        int at = first.readerIndex();
        int topic = first.getByte(at);
        if (topic != TOPIC.charAt(0)) {
            throw new TornException("first byte: " + topic + " (expected: " + (int) TOPIC.charAt(0) + ")");
        }
        Numbered said = new Numbered(first.getLong(at + 8), first.getLong(at + 16), first.getByte(at + 1) != 0);
        int frames = first.getShort(at + 2);
        if (message.size() != frames) {
            throw new TornException(said + " with " + message.size() + " frames (expected: " + frames + ")");
        }
        int bytes = first.getInt(at + 4);
        if (message.readableBytes() != bytes) {
            throw new TornException(said + " with " + message.readableBytes() + " bytes (expected: " + bytes + ")");
        }
        int crc = crc(message);
        if (crc != first.getInt(at + CRC_AT)) {
            throw new TornException(said + " with checksum " + Integer.toHexString(crc) + " (expected: "
                    + Integer.toHexString(first.getInt(at + CRC_AT)) + ")");
        }
        return said;
    }

    /** Whether {@code message} seems to be an end; it may not be what it seems. */
    static boolean isEnd(ZMTPMessage message) {
        ByteBuf first = message.frame(0);
        return first.readableBytes() > 1 && first.getByte(first.readerIndex() + 1) != 0;
    }

    private static int crc(Iterable<ByteBuf> frames) {
        CRC32C crc = new CRC32C();
        boolean first = true;
        for (ByteBuf frame : frames) {
            int at = frame.readerIndex();
            int length = frame.readableBytes();
            for (int shift = 24; shift >= 0; shift -= 8) {
                crc.update(length >>> shift);
            }
            if (first) {
                crc.update(frame.nioBuffer(at, CRC_AT));
                at += HEADER;
                length -= HEADER;
                first = false;
            }
            if (length > 0) {
                crc.update(frame.nioBuffer(at, length));
            }
        }
        return (int) crc.getValue();
    }

    @Override
    public String toString() {
        return (end ? "end, message " : "message ") + number + " of stream " + stream;
    }
}
