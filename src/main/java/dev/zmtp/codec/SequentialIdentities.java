package dev.zmtp.codec;

import java.nio.ByteBuffer;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A zero byte and a counter. It starts at a random number, so that no application relies on the identities of its last
 * run.
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
