package dev.zmtp.codec;

import java.nio.ByteBuffer;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/** A zero octet and a counter. It starts anywhere, so that nobody comes to rely on the identities of one run in the next. */
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
