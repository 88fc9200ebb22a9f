package dev.zmtp.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reads that wait, whatever their sizes. */
class ReadQueueTest {

    /** Bytes that the objects of a buffer take. */
    private static final int OBJECTS = 150;

    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false);
    private final ReadQueue queue = new ReadQueue();
    private byte next;

    @AfterEach
    void release() {
        queue.clear();
        assertThat(allocator.metric().usedHeapMemory()).isZero();
    }

    private ByteBuf read(int length) {
        ByteBuf in = allocator.buffer(length);
        for (int i = 0; i < length; i++) {
            in.writeByte(next++);
        }
        return in;
    }

    private int assertInOrder() {
        int buffers = 0;
        byte expected = 0;
        for (ByteBuf in = queue.poll(); in != null; in = queue.poll()) {
            buffers++;
            while (in.isReadable()) {
                assertThat(in.readByte()).isEqualTo(expected++);
            }
            in.release();
        }
        assertThat(expected).isEqualTo(next);
        assertThat(queue.bytes()).isZero();
        return buffers;
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "1, 513", "2, 4096", "512, 513", "513, 513", "1, 5000"})
    void manyReadsTakeLittleMoreMemoryThanTheirBytes(int first, int second) {
        int bytes = 0;
        while (bytes < 200_000) {
            queue.add(read(first), allocator);
            queue.add(read(second), allocator);
            bytes += first + second;
        }
        assertThat(queue.bytes()).isEqualTo(bytes);
        long memory = allocator.metric().usedHeapMemory();

        int buffers = assertInOrder();

        assertThat(memory + (long) OBJECTS * buffers).isLessThan(bytes * 5L / 2);
    }

    @Test
    void aSingleSmallReadTakesItsBytes() {
        queue.add(read(3), allocator);

        assertThat(allocator.metric().usedHeapMemory()).isEqualTo(3);
        assertThat(assertInOrder()).isEqualTo(1);
    }

    @Test
    void theRestOfAReadComesFirst() {
        queue.add(read(1), allocator);
        ByteBuf first = queue.poll();
        queue.add(read(1), allocator);
        queue.add(read(1), allocator);

        queue.addFirst(first, allocator);

        assertThat(queue.bytes()).isEqualTo(3);
        assertThat(assertInOrder()).isGreaterThan(1);
    }
}
