package dev.zmtp.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

class InprocRingTest {

    @Test
    void aMessageThatItsSenderHasReleasedDoesNotKeepTheOthers() {
        InprocRing ring = new InprocRing(new QueueLimit(4, 100));
        ByteBuf[] messages = {Unpooled.buffer(1), Unpooled.buffer(1), Unpooled.buffer(1)};
        for (ByteBuf message : messages) {
            assertThat(ring.offer(message, 1)).isTrue();
        }
        messages[0].release();

        ring.clear();

        assertThat(messages).allMatch(message -> message.refCnt() == 0);
        assertThat(ring.isEmpty()).isTrue();
    }
}
