package dev.zmtp.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.HeapAllocator;
import dev.zmtp.testing.TestSockets;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Bytes that go from one end of a channel within the process to the other. Both ends have one event loop. */
class InprocBytesTest {

    private static final int ROOM = 64;

    private final EventLoops loops = new EventLoops(1);
    private final List<ByteBuf> reads = new ArrayList<>();
    private InprocEnds ends;
    private Channel client;

    @BeforeEach
    void connect() throws Exception {
        ends = new InprocEnds(
                loops.group(), loops.group(), new QueueLimit(4, ROOM), new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object read) {
                        reads.add((ByteBuf) read);
                    }
                });
        client = ends.client;
    }

    @AfterEach
    void close() {
        ends.close();
        onTheLoop(() -> reads.forEach(ByteBuf::release));
        loops.close();
    }

    private void onTheLoop(Runnable task) {
        client.eventLoop().submit(task).syncUninterruptibly();
    }

    private byte[] bytesRead() {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        onTheLoop(() -> reads.forEach(read -> all.writeBytes(ByteBufUtil.getBytes(read))));
        return all.toByteArray();
    }

    private static byte[] numbers(int length) {
        byte[] numbers = new byte[length];
        for (int i = 0; i < length; i++) {
            numbers[i] = (byte) i;
        }
        return numbers;
    }

    @Test
    void theEndsShareNoMemory() throws Exception {
        byte[] array = numbers(10);
        client.writeAndFlush(Unpooled.wrappedBuffer(array)).sync();
        array[0] = 99;

        TestSockets.await("read", () -> bytesRead().length == 10);
        assertThat(bytesRead()).isEqualTo(numbers(10));
    }

    @Test
    void aBufferLongerThanTheLimitIsWrittenAsFarAsItIsRead() throws Exception {
        ends.accepted.config().setAutoRead(false);
        onTheLoop(() -> {}); // the read that was under way
        int length = 10 * ROOM + 1;
        ChannelFuture write = client.writeAndFlush(Unpooled.wrappedBuffer(numbers(length)));
        onTheLoop(() -> {});
        onTheLoop(() -> {});
        assertThat(write.isDone()).isFalse();
        assertThat(bytesRead().length).isLessThanOrEqualTo(ROOM);

        ends.accepted.config().setAutoRead(true);
        write.sync();
        TestSockets.await("read", () -> bytesRead().length == length);
        assertThat(bytesRead()).isEqualTo(numbers(length));
        onTheLoop(() -> assertThat(reads).allMatch(read -> read.readableBytes() <= ROOM));
    }

    @Test
    void anEmptyBufferIsWritten() throws Exception {
        client.writeAndFlush(Unpooled.EMPTY_BUFFER).sync();
        client.writeAndFlush(Unpooled.wrappedBuffer(numbers(1))).sync();

        TestSockets.await("read", () -> bytesRead().length == 1);
    }

    @Test
    void aWriteOfBytesThatTheirSenderHasReleasedFailsAlone() throws Exception {
        ByteBuf released = Unpooled.copiedBuffer(numbers(3));
        released.release();
        ChannelFuture write = client.writeAndFlush(released).await();

        assertThat(write.cause()).isNotNull();
        client.writeAndFlush(Unpooled.wrappedBuffer(numbers(1))).sync();
        TestSockets.await("read", () -> bytesRead().length == 1);
    }

    @Test
    void whatWasWrittenBeforeMemoryRanOutIsReadAndThenTheEnd() {
        client.config().setAllocator(new HeapAllocator() {
            private int buffers;

            @Override
            protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
                if (++buffers > 1) {
                    throw new OutOfMemoryError("full");
                }
                return super.newHeapBuffer(initialCapacity, maxCapacity);
            }
        });

        onTheLoop(() -> {
            client.write(Unpooled.wrappedBuffer(numbers(10)));
            client.writeAndFlush(Unpooled.wrappedBuffer(numbers(10)));
        });

        TestSockets.await("the end", () -> !ends.accepted.isOpen());
        assertThat(bytesRead()).isEqualTo(numbers(10));
    }

    @Test
    void theCopyOfABufferWithAReleasedComponentIsReleased() throws Exception {
        List<ByteBuf> copies = new CopyOnWriteArrayList<>();
        client.config().setAllocator(new HeapAllocator() {
            @Override
            protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
                ByteBuf copy = super.newHeapBuffer(initialCapacity, maxCapacity);
                copies.add(copy);
                return copy;
            }
        });
        ByteBuf released = Unpooled.copiedBuffer(numbers(3));
        CompositeByteBuf whole = Unpooled.compositeBuffer().addComponent(true, released);
        released.release();

        ChannelFuture write = client.writeAndFlush(whole).await();

        assertThat(write.cause()).isNotNull();
        assertThat(copies)
                .singleElement()
                .satisfies(copy -> assertThat(copy.refCnt()).isZero());
    }
}
