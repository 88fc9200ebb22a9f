package dev.zmtp.shm;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * First message of a server over the Unix domain socket, with the file to map.
 *
 * <pre>
 *   invitation = "ZSHM" version:1 capacity:4 length:2 path
 *   refusal    = "ZSHM" version:1 0:4        length:2 text
 *   answer     = 1 nonce:16
 * </pre>
 *
 * <p>The client maps the file and removes its name, so that a killed server leaves no file. It answers with the random
 * bytes of its header, which prove that the client can open the file and therefore belongs to the same user. From then
 * on each byte is a ring of the doorbell. A server without a file sends the reason.
 */
record Invitation(Path file, int capacity) {

    /** Number of bytes before the path. */
    static final int FIXED = 11;

    /** Length of an answer, which starts with {@link #ACCEPTED}, in bytes. */
    static final int ANSWER = 1 + RandomBytes.LENGTH;

    static final int ACCEPTED = 1;

    /** Number of rings in a file, which has a ring for each direction. */
    static final int RINGS = 2;

    private static final int REFUSED = 0;
    private static final int MAX_PATH = 4096;
    private static final int MAX_REFUSAL = 512;
    private static final String OURS = "shared memory: ";

    static IOException unexpected(String what, Object actual, Object expected) {
        return new IOException(OURS + what + ": " + actual + " (expected: " + expected + ")");
    }

    /** Checks the first {@link #FIXED} bytes, and returns the total number of bytes. */
    static int length(ByteBuf in) throws IOException {
        int start = in.readerIndex();
        if (in.getInt(start) != FileHeader.MAGIC) {
            throw unexpected("invitation", "0x" + Integer.toHexString(in.getInt(start)), "ZSHM");
        }
        if (in.getUnsignedByte(start + 4) != FileHeader.VERSION) {
            throw unexpected("version", in.getUnsignedByte(start + 4), FileHeader.VERSION);
        }
        int length = in.getUnsignedShort(start + 9);
        if (length > MAX_PATH) {
            throw unexpected("path length", length, "<= " + MAX_PATH);
        }
        return FIXED + length;
    }

    /** Reads a complete invitation. A refusal is thrown as an {@code IOException}. */
    static Invitation read(ByteBuf in) throws IOException {
        int length = length(in) - FIXED;
        int capacity = in.getInt(in.readerIndex() + 5);
        in.skipBytes(FIXED);
        String path = in.toString(in.readerIndex(), length, StandardCharsets.UTF_8);
        in.skipBytes(length);
        if (capacity == REFUSED) {
            throw new IOException(OURS + "the server has no file: " + path.replaceAll("\\p{Cntrl}", "?"));
        }
        try {
            return new Invitation(SharedDirectory.checkName(Path.of(path)), Ring.checkCapacity(capacity));
        } catch (IllegalArgumentException e) {
            throw new IOException(OURS + e.getMessage(), e);
        }
    }

    void write(ByteBuf out) {
        write(out, capacity, file.toString().getBytes(StandardCharsets.UTF_8));
    }

    /** Writes the reason for a missing file. */
    static void writeRefusal(ByteBuf out, Throwable cause) {
        String reason = cause instanceof IOException ? String.valueOf(cause.getMessage()) : cause.toString();
        byte[] text =
                (reason.startsWith(OURS) ? reason.substring(OURS.length()) : reason).getBytes(StandardCharsets.UTF_8);
        write(out, REFUSED, Arrays.copyOf(text, Math.min(text.length, MAX_REFUSAL)));
    }

    private static void write(ByteBuf out, int capacity, byte[] text) {
        out.writeInt(FileHeader.MAGIC).writeByte(FileHeader.VERSION).writeInt(capacity);
        out.writeShort(text.length).writeBytes(text);
    }

    /** Returns the answer of a client that has mapped {@code file}. */
    static byte[] answer(SharedFile file) {
        return ByteBuffer.allocate(ANSWER)
                .put((byte) ACCEPTED)
                .put(file.header().nonce())
                .array();
    }

    /** Reads the answer of a client of {@code file}. Returns whether it was complete. */
    static boolean readAnswer(ByteBuf in, SharedFile file) throws IOException {
        int first = in.getUnsignedByte(in.readerIndex());
        if (first != ACCEPTED) {
            throw unexpected("answer", first, ACCEPTED);
        }
        if (in.readableBytes() < ANSWER) {
            return false;
        }
        byte[] nonce = new byte[RandomBytes.LENGTH];
        in.skipBytes(1).readBytes(nonce);
        if (!file.header().hasNonce(nonce)) {
            throw unexpected("answer", HexFormat.of().formatHex(nonce), "the random bytes of the file");
        }
        return true;
    }

    /** Maps the file and removes its name. Returns the client's ends. */
    RingPair accept() throws IOException {
        SharedFile mapped = SharedFile.open(file, RINGS, capacity);
        try {
            mapped.unlink();
            return RingPair.of(mapped, false);
        } catch (Throwable e) {
            mapped.close();
            throw e;
        }
    }
}
