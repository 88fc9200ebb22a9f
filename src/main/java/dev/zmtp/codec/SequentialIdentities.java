package dev.zmtp.codec;

import java.nio.ByteBuffer;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Generates a zero byte and a counter. The counter starts at a random number, so that applications cannot rely on the
 * identities of an earlier run.
 */
final class SequentialIdentities implements ZMTPIdentityGenerator {

    static final SequentialIdentities INSTANCE = new SequentialIdentities();

    private final AtomicLong next = new AtomicLong(ThreadLocalRandom.current().nextLong());

    @Override
    public ByteBuffer generateIdentity(ZMTPSession session) {
        return ByteBuffer.allocate(1 + Long.BYTES)
                .put((byte) 0)
                .putLong(next.getAndIncrement())
                .flip();
    }

    @Override
    public String toString() {
        return "sequential";
    }
}
