package dev.zmtp.shm;

import java.security.SecureRandom;

/** The random bytes of names and headers. To get them may block, and so may loading this class. */
final class RandomBytes {

    /** As many as nobody can guess. */
    static final int LENGTH = 16;

    private static final SecureRandom RANDOM = new SecureRandom();

    private RandomBytes() {}

    static byte[] next() {
        byte[] bytes = new byte[LENGTH];
        RANDOM.nextBytes(bytes);
        return bytes;
    }
}
