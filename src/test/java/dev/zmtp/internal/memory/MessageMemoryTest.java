package dev.zmtp.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The memory that a message takes while it waits. */
class MessageMemoryTest {

    private static final int READ = 64 << 10;

    private static ZMTPMessage slice(ByteBuf read, int length) {
        return ZMTPMessage.from(read.readRetainedSlice(length));
    }

    @Test
    void eachFrameTakesItsObjectsAndItsBytes() {
        ZMTPMessage one = ZMTPMessage.fromUTF8("abc");
        ZMTPMessage two = ZMTPMessage.fromUTF8("abc", "");

        assertThat(MessageMemory.of(one, 3)).isEqualTo(160 + 132 + 3);
        assertThat(MessageMemory.of(two, 3)).isEqualTo(160 + 2 * 132 + 3);
        one.release();
        two.release();
    }

    @Test
    void thoseThatShareAMessageTakeAPartEach() {
        ZMTPMessage message = ZMTPMessage.fromUTF8("abc");

        assertThat(MessageMemory.share(message, 3, 0)).isEqualTo(MessageMemory.of(message, 3));
        assertThat(MessageMemory.share(message, 3, 1)).isEqualTo(MessageMemory.of(message, 3));
        assertThat(MessageMemory.share(message, 3, 5)).isEqualTo(64 + (MessageMemory.of(message, 3) - 64) / 5);
        message.release();
    }

    @Test
    void aSmallPartOfALargeBufferIsCopied() {
        ByteBuf read = Unpooled.buffer(READ).writeZero(READ);
        ZMTPMessage kept = MessageMemory.compact(slice(read, READ / 4 - 1));
        assertThat(read.refCnt()).isOne();
        assertThat(kept.frame(0)).isEqualTo(Unpooled.wrappedBuffer(new byte[READ / 4 - 1]));
        kept.release();
        read.release();
    }

    @Test
    void aQuarterOfABufferIsNotCopied() {
        ByteBuf read = Unpooled.buffer(READ).writeZero(READ);
        ZMTPMessage message = slice(read, READ / 4);
        assertThat(MessageMemory.compact(message)).isSameAs(message);
        message.release();
        read.release();
    }

    /** Or each queue on its way would copy it again. */
    @Test
    void aCopyIsNotCopied() {
        List<ByteBuf> frames = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            frames.add(Unpooled.buffer(100_000).writeZero(600));
        }
        ZMTPMessage message = ZMTPMessage.from(frames);
        assertThat(MessageMemory.isWasteful(message)).isTrue();

        ZMTPMessage copy = MessageMemory.compact(message);

        assertThat(MessageMemory.isWasteful(copy)).isFalse();
        copy.release();
    }

    @Test
    void aPartOfASmallBufferIsNotCopied() {
        ByteBuf read = Unpooled.buffer(4 << 10).writeZero(4 << 10);
        ZMTPMessage message = slice(read, 1);
        assertThat(MessageMemory.compact(message)).isSameAs(message);
        message.release();
        read.release();
    }
}
