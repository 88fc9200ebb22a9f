package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The bytes of one direction, and what the other side may have done to the positions. */
class RingTest {

    private static final int CAPACITY = 4096;
    private static final int TAIL = 0;
    private static final int HEAD = 128;

    private final ByteBuffer memory =
            ByteBuffer.allocateDirect(Ring.size(CAPACITY)).order(ByteOrder.nativeOrder());
    private final Ring ring = new Ring(memory);
    private final SharedMemoryWriter writer = new SharedMemoryWriter(ring);
    private final SharedMemoryReader reader = new SharedMemoryReader(ring);

    private static ByteBuffer bytes(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return ByteBuffer.wrap(bytes);
    }

    private byte[] readAll() throws IOException {
        ByteBuffer target = ByteBuffer.allocate(2 * CAPACITY);
        reader.read(target);
        reader.release();
        byte[] read = new byte[target.flip().remaining()];
        target.get(read);
        return read;
    }

    // Bytes

    @Test
    void whatIsWrittenIsReadAfterAFlush() throws IOException {
        ByteBuffer source = bytes(100);
        assertThat(writer.write(source)).isEqualTo(100);
        assertThat(source.hasRemaining()).isFalse();
        assertThat(reader.available()).isZero();
        writer.flush();
        assertThat(reader.available()).isEqualTo(100);
        assertThat(ByteBuffer.wrap(readAll())).isEqualTo(source.rewind());
        assertThat(reader.available()).isZero();
    }

    @Test
    void aFullRingTakesNothing() throws IOException {
        assertThat(writer.write(bytes(CAPACITY + 1))).isEqualTo(CAPACITY);
        assertThat(writer.write(bytes(1))).isZero();
        writer.flush();
        assertThat(writer.write(bytes(1))).isZero();
        assertThat(readAll()).hasSize(CAPACITY);
        assertThat(writer.write(bytes(1))).isEqualTo(1);
    }

    @Test
    void thereIsRoomOnlyForWhatTheReaderHasReleased() throws IOException {
        writer.write(bytes(CAPACITY));
        writer.flush();
        reader.read(ByteBuffer.allocate(10));
        assertThat(writer.write(bytes(1))).isZero();
        reader.release();
        assertThat(writer.write(bytes(100))).isEqualTo(10);
    }

    @Test
    void aReadTakesNoMoreThanItsTargetHasRoomFor() throws IOException {
        writer.write(bytes(100));
        writer.flush();
        ByteBuffer target = ByteBuffer.allocate(50).position(10).limit(40);
        assertThat(reader.read(target)).isEqualTo(30);
        assertThat(target.position()).isEqualTo(40);
        assertThat(reader.available()).isEqualTo(70);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 63, 1000, 4095, 4096})
    void bytesGoRoundTheEndOfTheRing(int length) throws IOException {
        for (int i = 0; i < 3 * CAPACITY / length + 3; i++) {
            ByteBuffer source = bytes(length);
            assertThat(writer.write(source)).isEqualTo(length);
            writer.flush();
            assertThat(ByteBuffer.wrap(readAll())).isEqualTo(source.rewind());
        }
    }

    /** After some hundred years, or at once if the other side likes. */
    @Test
    void positionsMayOverflow() throws IOException {
        long start = Long.MAX_VALUE - 100;
        memory.putLong(TAIL, start).putLong(HEAD, start);
        assertThat(Ring.check("writer", start + 200, start, start + CAPACITY)).isEqualTo(start + 200);
    }

    // Broken by the other side

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE, CAPACITY + 1, Long.MAX_VALUE})
    void aWriterThatSaysWhatCannotBeIsBroken(long tail) {
        memory.putLong(TAIL, tail);
        assertThatThrownBy(reader::available)
                .isInstanceOf(IOException.class)
                .hasMessage("shared memory: writer at " + tail + " (expected: 0 to 4096)");
    }

    @Test
    void aWriterThatGoesBackIsBroken() throws IOException {
        writer.write(bytes(100));
        writer.flush();
        readAll();
        memory.putLong(TAIL, 99);
        assertThatThrownBy(reader::available).hasMessage("shared memory: writer at 99 (expected: 100 to 4196)");
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, CAPACITY + 1, Long.MAX_VALUE})
    void aReaderThatSaysWhatCannotBeIsBroken(long head) throws IOException {
        writer.write(bytes(CAPACITY));
        writer.flush();
        memory.putLong(HEAD, head);
        assertThatThrownBy(() -> writer.write(bytes(1)))
                .isInstanceOf(IOException.class)
                .hasMessage("shared memory: reader at " + head + " (expected: 0 to 4096)");
    }

    @Test
    void aReaderThatIsAheadOfWhatWasFlushedIsBroken() throws IOException {
        writer.write(bytes(100));
        writer.flush();
        writer.write(bytes(CAPACITY - 100));
        memory.putLong(HEAD, 101);
        assertThatThrownBy(() -> writer.write(bytes(1))).hasMessageContaining("reader at 101 (expected: 0 to 100)");
    }

    /** Positions of random values, at random moments: an IOException or bytes, and never anything else. */
    @Test
    void nothingButTheRingIsEverTouched() {
        for (int seed = 0; seed < 2000; seed++) {
            Random random = new Random(seed);
            ByteBuffer around = ByteBuffer.allocateDirect(CAPACITY + Ring.size(CAPACITY) + CAPACITY);
            ByteBuffer inside = around.slice(CAPACITY, Ring.size(CAPACITY)).order(ByteOrder.nativeOrder());
            Ring attacked = new Ring(inside);
            try {
                attack(random, inside, new SharedMemoryWriter(attacked), new SharedMemoryReader(attacked));
            } catch (IOException e) {
                assertThat(e).hasMessageStartingWith("shared memory: ");
            }
            assertUntouched(around, 0);
            assertUntouched(around, CAPACITY + Ring.size(CAPACITY));
        }
    }

    private static void attack(Random random, ByteBuffer inside, SharedMemoryWriter writer, SharedMemoryReader reader)
            throws IOException {
        for (int i = 0; i < 20; i++) {
            switch (random.nextInt(5)) {
                case 0 -> inside.putLong(TAIL, random.nextBoolean() ? random.nextLong() : random.nextInt(9000));
                case 1 -> inside.putLong(HEAD, random.nextBoolean() ? random.nextLong() : random.nextInt(9000));
                case 2 -> writer.write(bytes(1 + random.nextInt(5000)));
                case 3 -> {
                    writer.flush();
                    writer.beforeSleep();
                }
                default -> {
                    reader.read(ByteBuffer.allocate(random.nextInt(5000)));
                    reader.release();
                    reader.beforeSleep();
                }
            }
        }
    }

    private static void assertUntouched(ByteBuffer memory, int start) {
        for (int i = start; i < start + CAPACITY; i += Long.BYTES) {
            assertThat(memory.getLong(i)).isZero();
        }
    }

    // Sleep

    @Test
    void aReaderThatSleepsIsWokenOnceByAFlush() throws IOException {
        assertThat(writer.flush()).isFalse();
        assertThat(reader.beforeSleep()).isTrue();
        writer.write(bytes(1));
        assertThat(writer.flush()).isTrue();
        assertThat(writer.flush()).isFalse();
    }

    @Test
    void aReaderDoesNotSleepIfThereIsMore() throws IOException {
        writer.write(bytes(1));
        writer.flush();
        assertThat(reader.beforeSleep()).isFalse();
        assertThat(writer.flush()).isFalse();
    }

    @Test
    void aWriterThatSleepsIsWokenOnceByARelease() throws IOException {
        writer.write(bytes(CAPACITY));
        writer.flush();
        assertThat(writer.beforeSleep()).isTrue();
        reader.read(ByteBuffer.allocate(1));
        assertThat(reader.release()).isTrue();
        assertThat(reader.release()).isFalse();
    }

    @Test
    void aWriterDoesNotSleepIfThereIsRoom() throws IOException {
        writer.write(bytes(CAPACITY - 1));
        writer.flush();
        assertThat(writer.beforeSleep()).isFalse();
        assertThat(reader.release()).isFalse();
    }

    // Capacity

    @ParameterizedTest
    @ValueSource(ints = {4096, 8192, 1 << 28})
    void theBoundsOfTheCapacityAreIncluded(int capacity) {
        assertThat(Ring.checkCapacity(capacity)).isEqualTo(capacity);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 1, 2048, 4095, 4097, 1 << 29, Integer.MIN_VALUE})
    void theCapacityIsAPowerOfTwoWithinBounds(int capacity) {
        assertThatThrownBy(() -> Ring.checkCapacity(capacity))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("capacity: " + capacity + " (expected: a power of two, 4096 to 268435456)");
    }
}
