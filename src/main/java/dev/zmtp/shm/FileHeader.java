package dev.zmtp.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;

/**
 * Start of a file. It identifies the kind of file, so that no other file is mistaken for it, and has 16 random bytes,
 * which are known only to processes that can open the file.
 *
 * <pre>
 *      0  "ZSHM"
 *      4  version
 *      8  rings
 *     12  capacity of each
 *     16  the random bytes
 *    128  the first ring
 * </pre>
 */
final class FileHeader {

    /** Size of the header, a multiple of a pair of cache lines because the rings follow it. */
    static final int SIZE = 128;

    static final int MAGIC = 0x5a53484d;

    /** Version of the file format and of the meeting. */
    static final int VERSION = 2;

    private static final int NONCE = 16;

    private final int rings;
    private final int capacity;
    private final byte[] nonce;

    private FileHeader(int rings, int capacity, byte[] nonce) {
        this.rings = rings;
        this.capacity = Ring.checkCapacity(capacity);
        this.nonce = nonce;
    }

    /** Returns the header of a new file. */
    static FileHeader of(int rings, int capacity) {
        return new FileHeader(rings, capacity, RandomBytes.next());
    }

    /** Reads the header of a file that another process has created, and that must have these rings. */
    static FileHeader read(ByteBuffer memory, int rings, int capacity) throws IOException {
        byte[] nonce = new byte[RandomBytes.LENGTH];
        check("file", Integer.toHexString(memory.getInt(0)), Integer.toHexString(MAGIC));
        check("version of the file", memory.getInt(4), VERSION);
        check("rings", memory.getInt(8), rings);
        check("capacity", memory.getInt(12), capacity);
        memory.get(NONCE, nonce);
        return new FileHeader(rings, capacity, nonce);
    }

    private static void check(String what, Object actual, Object expected) throws IOException {
        if (!actual.equals(expected)) {
            throw Invitation.unexpected(what, actual, expected);
        }
    }

    void write(ByteBuffer memory) {
        memory.putInt(0, MAGIC).putInt(4, VERSION).putInt(8, rings).putInt(12, capacity);
        memory.put(NONCE, nonce);
    }

    static long fileSize(int rings, int capacity) {
        return SIZE + (long) rings * Ring.size(Ring.checkCapacity(capacity));
    }

    long fileSize() {
        return fileSize(rings, capacity);
    }

    int capacity() {
        return capacity;
    }

    byte[] nonce() {
        return Arrays.copyOf(nonce, nonce.length);
    }

    /** Returns whether these are the random bytes. Takes the same time for all wrong bytes. */
    boolean hasNonce(byte[] answer) {
        return MessageDigest.isEqual(nonce, answer);
    }
}
