package dev.zmtp.shm;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The first message of a server over the Unix domain socket: which file to map.
 *
 * <pre>
 *   invitation = "ZSHM" version:1 capacity:4 length:2 path
 * </pre>
 *
 * <p>The client maps the file, removes its name, so that a server that is killed leaves nothing, and answers with
 * {@link #ACCEPTED}. From then on each byte is a ring of the doorbell.
 */
record Invitation(Path file, int capacity) {

    /** The bytes before those of the path. */
    static final int FIXED = 11;

    /** The answer of a client that has the file. */
    static final int ACCEPTED = 1;

    /** The rings of a file, one for each direction. */
    static final int RINGS = 2;

    private static final int MAGIC = 0x5a53484d;
    private static final int VERSION = 1;
    private static final int MAX_PATH = 4096;

    static IOException unexpected(String what, Object actual, Object expected) {
        return new IOException("shared memory: " + what + ": " + actual + " (expected: " + expected + ")");
    }

    /** Checks the first {@link #FIXED} bytes, and returns how many there are in all. */
    static int length(ByteBuf in) throws IOException {
        int start = in.readerIndex();
        if (in.getInt(start) != MAGIC) {
            throw unexpected("invitation", "0x" + Integer.toHexString(in.getInt(start)), "ZSHM");
        }
        if (in.getUnsignedByte(start + 4) != VERSION) {
            throw unexpected("version", in.getUnsignedByte(start + 4), VERSION);
        }
        int length = in.getUnsignedShort(start + 9);
        if (length > MAX_PATH) {
            throw unexpected("path length", length, "<= " + MAX_PATH);
        }
        return FIXED + length;
    }

    /** Reads one that is there as a whole. */
    static Invitation read(ByteBuf in) throws IOException {
        int length = length(in) - FIXED;
        int capacity = in.getInt(in.readerIndex() + 5);
        in.skipBytes(FIXED);
        String path = in.toString(in.readerIndex(), length, StandardCharsets.UTF_8);
        in.skipBytes(length);
        try {
            return new Invitation(SharedDirectory.checkName(Path.of(path)), Ring.checkCapacity(capacity));
        } catch (IllegalArgumentException e) {
            throw new IOException("shared memory: " + e.getMessage(), e);
        }
    }

    void write(ByteBuf out) {
        byte[] path = file.toString().getBytes(StandardCharsets.UTF_8);
        out.writeInt(MAGIC).writeByte(VERSION).writeInt(capacity);
        out.writeShort(path.length).writeBytes(path);
    }

    /** Maps the file and removes its name. Returns the ends of the client. */
    RingPair accept(Mapping.Lifetime lifetime) throws IOException {
        SharedFile mapped = SharedFile.open(file, RINGS, capacity, lifetime);
        try {
            mapped.unlink();
        } catch (Throwable e) {
            mapped.close();
            throw e;
        }
        return RingPair.of(mapped, false);
    }
}
