package dev.zmtp.shm;

import java.security.SecureRandom;

/** Random bytes of names and headers. Generating them can block, and so can loading this class. */
final class RandomBytes {

    /** Number of random bytes, which are too many to guess. */
    static final int LENGTH = 16;

    private static final SecureRandom RANDOM = new SecureRandom();

    private RandomBytes() {}

    static byte[] next() {
        byte[] bytes = new byte[LENGTH];
        RANDOM.nextBytes(bytes);
        return bytes;
    }
}
