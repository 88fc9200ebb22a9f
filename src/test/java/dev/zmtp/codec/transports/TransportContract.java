package dev.zmtp.codec.transports;

import static dev.zmtp.testing.Loopback.PATIENCE_SECONDS;
import static dev.zmtp.testing.Loopback.await;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.SIGNATURE;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.Loopback.End;
import dev.zmtp.testing.Recorder;
import dev.zmtp.testing.TestTransport;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.DuplexChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What a connection does on every transport whose bytes are those of ZMTP. */
abstract class TransportContract extends ConnectionContract {

    TransportContract(TestTransport transport) {
        super(transport);
    }

    /** Counts the bytes that are allocated after a buffer of {@code length} bytes. */
    private static final class AllocatedAfter extends AbstractByteBufAllocator {
        private final int length;
        private final AtomicLong allocated = new AtomicLong();

        private AllocatedAfter(int length) {
            super(true);
            this.length = length;
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
            if (initialCapacity == length) {
                allocated.set(0);
            } else {
                allocated.addAndGet(initialCapacity);
            }
            return ByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity);
        }

        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            return ByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
        }

        @Override
        public boolean isDirectBufferPooled() {
            return true;
        }
    }

    /** The transport reads its second half into the buffer of the body. */
    @Test
    void aLongBodyTakesNoSecondBuffer() throws InterruptedException {
        int length = 16 << 20;
        AllocatedAfter allocator = new AllocatedAfter(length);
        End left = end();
        End right = end();
        join(left, right);
        ByteBuf body = left.channel.alloc().buffer(length).writeBytes(bytes(length));
        right.channel.config().setAllocator(allocator);
        left.channel.writeAndFlush(ZMTPMessage.from(body.retain()));
        ZMTPMessage message = await(right.messages);
        assertThat(message.frame(0)).isEqualTo(body);
        assertThat(allocator.allocated.get()).isLessThan(length / 4);
        message.release();
        body.release();
    }

    @Test
    void aPeerThatSendsHalfAGreetingFailsTheHandshakeOnce() throws InterruptedException {
        End right = end();
        listen(right.codec, right);
        Channel raw = net().connect(new ChannelInboundHandlerAdapter());
        await(() -> right.channel != null);
        right.channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
        await(raw.writeAndFlush(Hex.buffer(SIGNATURE + "03")));
        if (raw instanceof DuplexChannel halves) {
            halves.shutdownOutput();
        } else {
            raw.close();
        }
        ZMTPHandshakeFailure failure = (ZMTPHandshakeFailure) right.handshake();
        assertThat(((ZMTPException) failure.cause()).code()).isEqualTo(ZMTPException.Code.CLOSED);
        right.assertClosed();
        assertThat(right.handshakes).isEmpty();
        assertThat(right.failures).isEmpty();
    }

    @Test
    void aStrangerFailsTheHandshakeOnceAndIsClosed() throws InterruptedException {
        End right = end();
        listen(right.codec, right);
        CountDownLatch closed = new CountDownLatch(1);
        Channel raw = net().connect(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                closed.countDown();
            }
        });
        raw.writeAndFlush(Hex.buffer("\"GET\" 20 2f 20"));
        ZMTPHandshakeFailure failure = (ZMTPHandshakeFailure) right.handshake();
        assertThat(((ZMTPException) failure.cause()).code()).isEqualTo(ZMTPException.Code.MALFORMED);
        right.assertClosed();
        assertThat(closed.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(right.handshakes).isEmpty();
        assertThat(right.failures).isEmpty();
    }

    @Test
    void withoutAutoReadAPingIsAnsweredAndDoesNotUseUpARead() throws InterruptedException {
        End right = end();
        net().set(ChannelOption.AUTO_READ, false);
        listen(right.codec, right);
        Recorder<String> received = Recorder.ofBytes();
        Channel raw = net().connect(received);
        raw.config().setAutoRead(true);
        raw.writeAndFlush(Hex.buffer(GREETING + ready("PAIR")));
        right.assertSucceeded();
        raw.writeAndFlush(Hex.buffer("04 0a 04 \"PING\" 00 00 \"abc\""));
        right.channel.read();
        await(() -> received.joined().endsWith(Hex.of("04 08 04 \"PONG\" \"abc\"")));
        assertThat(right.messages).isEmpty();
        raw.writeAndFlush(Hex.buffer("00 04 00 00 00 07"));
        assertThat(right.number()).isEqualTo(7);
        assertThat(right.failures).isEmpty();
    }
}
