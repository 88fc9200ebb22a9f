package dev.zmtp.internal.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The memory of a batch that its transport does not take at once. */
class BatchBufferTest {

    private static final int CAPACITY = 512;

    private final BatchBuffer buffer = new BatchBuffer(UnpooledByteBufAllocator.DEFAULT);

    private int capacityOfTaken(int length, boolean waits) {
        buffer.append(Unpooled.wrappedBuffer(new byte[length]));
        ByteBuf taken = Objects.requireNonNull(buffer.take(waits));
        try {
            assertThat(taken.readableBytes()).isEqualTo(length);
            return taken.capacity();
        } finally {
            taken.release();
        }
    }

    @Test
    void whatHasToWaitIsCopiedIfMoreThanAnEighthOfItsBufferIsEmpty() {
        assertThat(capacityOfTaken(CAPACITY / 8 * 7, true)).isEqualTo(CAPACITY);
        assertThat(capacityOfTaken(CAPACITY / 8 * 7 - 1, true)).isEqualTo(CAPACITY / 8 * 7 - 1);
    }

    @Test
    void whatLeavesAtOnceIsNotCopied() {
        assertThat(capacityOfTaken(1, false)).isEqualTo(CAPACITY);
    }
}
