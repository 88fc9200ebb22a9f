package dev.zmtp.internal.read;

import io.netty.buffer.ByteBuf;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A set of texts that uses 12 to 64 bytes per text, regardless of its length. A plain set would store each topic of
 * each peer a second time, in its full length, only to detect whether it is new.
 *
 * <p>A fingerprint is the value, at a secret position, of the polynomial whose coefficients are the bytes, modulo the
 * prime 2^61 - 1. Two texts of up to n bytes have the same fingerprint at no more than n of all 2^61 positions. Without
 * the secret, a peer cannot find two such texts, or texts that are slow to look up.
 */
final class Fingerprints {

    private static final long MODULUS = (1L << 61) - 1;
    private static final long GOLDEN_RATIO = 0x9e3779b97f4a7c15L; // separates adjacent fingerprints
    private static final long FREE = 0;
    private static final long[] NONE = {};
    private static final int LEAST_CAPACITY = 8;
    private static final int ARRAY_HEADER = 16;

    /** Not from a SecureRandom, which can block. The peer sees no data from which it could compute the secret. */
    private final long secret = ThreadLocalRandom.current().nextLong(1 << 16, MODULUS);

    /** A hash table with linear probing. */
    private long[] table = NONE;

    private int size;

    /** Returns the fingerprint of the readable bytes of {@code text}, whose indices are not moved. It is never zero. */
    long of(ByteBuf text) {
        long value = 1; // so that leading zeros count
        int end = text.writerIndex();
        for (int i = text.readerIndex(); i < end; i++) {
            value = reduce(timesSecret(value) + text.getUnsignedByte(i));
        }
        return value == FREE ? 1 : value;
    }

    /** Returns {@code value} times the secret, reduced once. The result is less than 2^62. */
    private long timesSecret(long value) {
        long low = value * secret;
        long high = (Math.multiplyHigh(value, secret) << 3) | (low >>> 61);
        return (low & MODULUS) + high; // 2^61 is 1, modulo 2^61 - 1
    }

    private static long reduce(long value) {
        long reduced = (value & MODULUS) + (value >>> 61);
        return reduced >= MODULUS ? reduced - MODULUS : reduced;
    }

    int size() {
        return size;
    }

    /** Returns the number of bytes of the table on the heap. */
    long memory() {
        return table.length == 0 ? 0 : ARRAY_HEADER + (long) Long.BYTES * table.length;
    }

    /** Adds {@code fingerprint}, and returns whether it is new. */
    boolean add(long fingerprint) {
        if (3 * (size + 1) > 2 * table.length) {
            resize(Math.max(LEAST_CAPACITY, 2 * table.length));
        }
        int slot = slot(fingerprint);
        if (table[slot] != FREE) {
            return false;
        }
        table[slot] = fingerprint;
        size++;
        return true;
    }

    /** Removes {@code fingerprint}, and returns whether it was present. */
    boolean remove(long fingerprint) {
        if (size == 0) {
            return false;
        }
        int slot = slot(fingerprint);
        if (table[slot] == FREE) {
            return false;
        }
        close(slot);
        size--;
        if (size == 0) {
            table = NONE;
        } else if (8 * size < table.length && table.length > LEAST_CAPACITY) {
            resize(table.length / 2);
        }
        return true;
    }

    /** Frees {@code slot}, and moves up the entries that lookups would no longer find. */
    private void close(int slot) {
        int mask = table.length - 1;
        int gap = slot;
        for (int i = (slot + 1) & mask; table[i] != FREE; i = (i + 1) & mask) {
            if (((i - home(table[i])) & mask) >= ((i - gap) & mask)) { // its home is not between the gap and its slot
                table[gap] = table[i];
                gap = i;
            }
        }
        table[gap] = FREE;
    }

    /** Returns the slot of {@code fingerprint}, or the free slot for it. A third of the slots are free. */
    private int slot(long fingerprint) {
        int mask = table.length - 1;
        int slot = home(fingerprint);
        while (table[slot] != FREE && table[slot] != fingerprint) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    private int home(long fingerprint) {
        return (int) ((fingerprint * GOLDEN_RATIO) >>> (Long.numberOfLeadingZeros(table.length) + 1));
    }

    private void resize(int capacity) {
        long[] old = table;
        table = new long[capacity];
        for (long fingerprint : old) {
            if (fingerprint != FREE) {
                table[slot(fingerprint)] = fingerprint;
            }
        }
    }
}
