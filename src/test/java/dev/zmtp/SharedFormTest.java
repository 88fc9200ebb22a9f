package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.util.IllegalReferenceCountException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** The bytes of a message that is encoded once. */
class SharedFormTest {

    @Test
    void whatIsEncodedOnceIsSharedByAllWhoAskForIt() {
        ZMTPMessage message = ZMTPMessage.fromUTF8("a", "b");
        assertThat(message.isEncodedOnce()).isFalse();
        assertThat(message.encodeOnce()).isSameAs(message);
        assertThat(message.isEncodedOnce()).isTrue();

        ByteBuf one = message.write(ZMTPVersion.ZMTP20);
        ByteBuf other = message.write(ZMTPVersion.ZMTP31);
        one.setByte(2, 'x');
        assertThat(ByteBufUtil.hexDump(other)).isEqualTo(Hex.of("01 01 78 / 00 01 62"));
        one.skipBytes(3);
        assertThat(other.readableBytes()).isEqualTo(6);
        one.release();
        message.release();
        assertThat(other.refCnt()).isEqualTo(1);
        other.release();
        assertThat(other.refCnt()).isZero();
    }

    @Test
    void anEncodedOneThatNobodyAsksForHasNothingToRelease() {
        assertThat(ZMTPMessage.fromUTF8("a", "b").encodeOnce().encodeOnce().release())
                .isTrue();
    }

    @Test
    void theNextUseOfARecycledMessageIsNotEncodedOnce() {
        ZMTPMessage.Builder builder = new ZMTPMessage.Builder();
        ZMTPMessage message = builder.add(Hex.buffer("61")).build().encodeOnce();
        message.write(ZMTPVersion.ZMTP31).release();
        message.release();

        ZMTPMessage next = builder.add(Hex.buffer("62")).build();
        assertThat(next).isSameAs(message);
        assertThat(next.isEncodedOnce()).isFalse();
        next.release();
    }

    @Test
    void aReleasedMessageCannotBeEncodedOnce() {
        ZMTPMessage message = ZMTPMessage.fromUTF8("a");
        message.release();
        assertThatThrownBy(message::encodeOnce).isInstanceOf(IllegalReferenceCountException.class);
    }

    @Test
    void threadsThatEncodeAtTheSameTimeGetTheSameBytes() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            for (int i = 0; i < 200; i++) {
                ZMTPMessage message = ZMTPMessage.fromUTF8("a", "b").encodeOnce();
                CyclicBarrier start = new CyclicBarrier(2);
                Callable<ByteBuf> encode = () -> {
                    start.await();
                    return message.write(ZMTPVersion.ZMTP31);
                };
                Future<ByteBuf> one = threads.submit(encode);
                Future<ByteBuf> other = threads.submit(encode);
                one.get().setByte(2, 'x');
                assertThat(other.get().getByte(2)).isEqualTo((byte) 'x');
                one.get().release();
                other.get().release();
                message.release();
            }
        } finally {
            threads.shutdown();
        }
    }
}
