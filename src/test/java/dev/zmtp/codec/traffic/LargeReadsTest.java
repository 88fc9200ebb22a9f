package dev.zmtp.codec.traffic;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.testing.Fired.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPDecoder;
import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.testing.CodecPair;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.MaxMessagesRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which buffers a transport gets to read large bodies into, and what becomes of them whatever happens meanwhile. */
@SuppressWarnings("deprecation") // the handle of a receive allocator, which has no successor in 4.1
class LargeReadsTest {

    /** What the transport reads by itself. */
    private static final int USUAL = 1 << 16;

    /** A body that is about a read, and one that is longer. */
    private static final int LENGTH = 100_000;

    private static final int LONG = 1 << 20;

    private static final byte[] BODY = bytes(LENGTH);

    private final EmbeddedChannel channel = channel();
    private final List<ByteBuf> frames = new ArrayList<>();
    private RecvByteBufAllocator.Handle handle;

    /** Its buffers are direct, whatever the JVM's options say: one on the heap is not read into. */
    private static EmbeddedChannel channel() {
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.config().setAllocator(new UnpooledByteBufAllocator(true));
        return channel;
    }

    private static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    /** A connection whose transport reads {@link #USUAL} bytes by itself. */
    private ScriptedPeer traffic(UnaryOperator<ZMTPCodec.Builder> settings) {
        channel.config().setRecvByteBufAllocator(new FixedRecvByteBufAllocator(USUAL).maxMessagesPerRead(16));
        ZMTPCodec codec = settings.apply(ZMTPCodec.builder().socketType(DEALER)).build();
        ScriptedPeer peer = new ScriptedPeer(channel, codec, new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                if (msg instanceof ZMTPMessage large && large.frame(0).readableBytes() > 1000) {
                    frames.add(large.frame(0).retain());
                }
                ctx.fireChannelRead(msg);
            }
        });
        peer.send(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, ZMTPSocketType.ROUTER));
        handle = channel.config().getRecvByteBufAllocator().newHandle();
        handle.reset(channel.config());
        return peer;
    }

    private ScriptedPeer traffic() {
        return traffic(codec -> codec);
    }

    @Test
    void theReadsInARowAreThoseOfTheChannelsOwnAllocator() {
        try (ScriptedPeer peer = traffic()) {
            assertThat(peer.channel.isActive()).isTrue();
            MaxMessagesRecvByteBufAllocator paced = channel.config().getRecvByteBufAllocator();
            assertThat(paced.maxMessagesPerRead()).isEqualTo(16);
            paced.maxMessagesPerRead(3);
            assertThat(paced.maxMessagesPerRead()).isEqualTo(3);
        }
    }

    @AfterEach
    void release() {
        frames.forEach(ByteBuf::release);
        channel.finishAndReleaseAll();
    }

    private static String header(int length) {
        return "02 %016x ".formatted(length);
    }

    private ByteBuf nextRead() {
        return handle.allocate(channel.alloc());
    }

    private int lengthOfNextRead() {
        ByteBuf next = nextRead();
        try {
            return next.writableBytes();
        } finally {
            next.release();
        }
    }

    /** The transport has read this into {@code buffer}. */
    private void read(ByteBuf buffer, byte[] bytes, int from, int to) {
        buffer.writeBytes(bytes, from, to - from);
        channel.pipeline().fireChannelRead(buffer);
        channel.pipeline().fireChannelReadComplete();
    }

    /** Of {@link #LONG} bytes, half has arrived. */
    private byte[] halfOfLong(ScriptedPeer peer) {
        byte[] body = bytes(LONG);
        peer.send(header(LONG));
        for (int from = 0; from < LONG / 2; from += USUAL) {
            read(channel.alloc().buffer(USUAL), body, from, from + USUAL);
        }
        return body;
    }

    private void assertFrame(byte... body) {
        assertThat(frames).hasSize(1);
        assertThat(ByteBufUtil.getBytes(frames.get(0))).isEqualTo(body);
    }

    @Test
    void aBodyStaysInTheBufferThatTheTransportReadItInto() {
        try (ScriptedPeer peer = traffic()) {
            peer.send(header(LENGTH));
            ByteBuf buffer = nextRead().retain();
            assertThat(buffer.writableBytes()).isEqualTo(LENGTH + 256);
            read(buffer, BODY, 0, LENGTH);
            assertFrame(BODY);
            buffer.setByte(7, BODY[7] + 1);
            assertThat(frames.get(0).getByte(7)).isEqualTo((byte) (BODY[7] + 1));
            buffer.release();
        }
    }

    @Test
    void theRestOfALongBodyStaysInTheBufferThatTheTransportReadItInto() {
        try (ScriptedPeer peer = traffic()) {
            byte[] body = halfOfLong(peer);
            ByteBuf buffer = nextRead().retain();
            assertThat(buffer.writableBytes()).isEqualTo(LONG / 2);
            read(buffer, body, LONG / 2, LONG);
            assertFrame(body);
            buffer.setByte(7, body[LONG / 2 + 7] + 1);
            assertThat(frames.get(0).getByte(LONG / 2 + 7)).isEqualTo((byte) (body[LONG / 2 + 7] + 1));
            buffer.release();
        }
    }

    @Test
    void theFramesAfterABodyAreDecoded() {
        try (ScriptedPeer peer = traffic()) {
            peer.send(header(LENGTH));
            byte[] more = Hex.bytes("00 01 61 / 01 01 62 / 00 01 63 / 00 05 64");
            ByteBuf buffer = nextRead().writeBytes(BODY);
            read(buffer, more, 0, more.length);
            assertFrame(BODY);
            assertThat(peer.messages.subList(1, 3)).containsExactly(message("a"), message("b", "c"));
            peer.send("65 66 67 68");
            assertThat(peer.messages).last().isEqualTo(message("defgh"));
        }
    }

    @Test
    void aReadOfNothingChangesNothing() {
        try (ScriptedPeer peer = traffic()) {
            byte[] body = halfOfLong(peer);
            assertThat(nextRead().release()).isFalse();
            assertThat(nextRead().release()).isFalse();
            read(nextRead(), body, LONG / 2, LONG);
            assertFrame(body);
        }
    }

    /** It might change what was read, or keep it. */
    @Test
    void withAHandlerBeforeTheCodecReadsAreAsUsual() {
        try (ScriptedPeer peer = traffic()) {
            channel.pipeline().addFirst("first", new ChannelInboundHandlerAdapter());
            byte[] body = halfOfLong(peer);
            assertThat(lengthOfNextRead()).isEqualTo(USUAL);
            channel.pipeline().remove("first");
            assertThat(lengthOfNextRead()).isEqualTo(LONG / 2);
            read(channel.alloc().buffer(), body, LONG / 2, LONG);
            assertFrame(body);
        }
    }

    /** As with STARTTLS: the handler has the buffer, and uses it, when the codec gets what it made of that. */
    @Test
    void aHandlerThatIsAddedDuringAReadMayChangeWhatWasRead() {
        try (ScriptedPeer peer = traffic()) {
            byte[] body = halfOfLong(peer);
            ByteBuf buffer = nextRead();
            channel.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object msg) {
                    ByteBuf in = (ByteBuf) msg;
                    while (in.isReadable()) { // one byte of each two
                        ctx.fireChannelRead(ctx.alloc().buffer().writeByte(in.readShort()));
                    }
                    in.release();
                }
            });
            byte[] doubled = new byte[2 * 1000];
            for (int i = 0; i < 1000; i++) {
                doubled[2 * i + 1] = body[LONG / 2 + i];
            }
            read(buffer, doubled, 0, doubled.length);
            channel.pipeline().removeFirst();
            read(channel.alloc().buffer(), body, LONG / 2 + 1000, LONG);
            assertFrame(body);
        }
    }

    @Test
    void aHandlerThatIsAddedDuringAReadMayTakeTheFirstBytes() {
        try (ScriptedPeer peer = traffic()) {
            byte[] body = halfOfLong(peer);
            ByteBuf buffer = nextRead();
            channel.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object msg) {
                    ctx.fireChannelRead(((ByteBuf) msg).skipBytes(1));
                }
            });
            read(buffer, body, LONG / 2 - 1, LONG - 1);
            channel.pipeline().removeFirst();
            read(channel.alloc().buffer(), body, LONG - 1, LONG);
            assertFrame(body);
        }
    }

    @Test
    void whatIsReadWhileTheCodecIsRemovedGoesToTheNextHandler() {
        try (ScriptedPeer peer = traffic()) {
            halfOfLong(peer);
            ByteBuf buffer = nextRead();
            channel.pipeline().remove(ZMTPCodec.class);
            byte[] next = Hex.bytes("61 62 63");
            read(buffer, next, 0, next.length);
            assertThat(peer.messages).last().isEqualTo("bytes 616263");
            assertThat(buffer.refCnt()).isZero();
            assertThat(lengthOfNextRead()).isEqualTo(USUAL);
        }
    }

    @Test
    void aCloseDuringAReadLeavesTheTransportItsBuffer() {
        try (ScriptedPeer peer = traffic()) {
            halfOfLong(peer);
            ByteBuf buffer = nextRead();
            channel.close();
            buffer.writeBytes(BODY, 0, 1000);
            assertThat(buffer.release()).isTrue();
            assertThat(frames).isEmpty();
        }
    }

    @Test
    void whatExceedsTheMemoryBudgetIsReleased() {
        ZMTPMemoryBudget budget = ZMTPMemoryBudget.of(LENGTH + 300);
        try (ScriptedPeer other = InTraffic.as(DEALER)
                        .set(codec -> codec.memoryBudget(budget))
                        .start();
                ScriptedPeer peer = traffic(codec -> codec.memoryBudget(budget).maxFrameLength(LENGTH))) {
            assertThat(other.failures).isEmpty(); // it keeps what it was told in the handshake
            peer.send(header(LENGTH));
            ByteBuf buffer = nextRead();
            read(buffer, BODY, 0, LENGTH - 1);
            assertThat(peer.failures)
                    .singleElement()
                    .extracting(failure -> ((ZMTPException) failure).code())
                    .isEqualTo(ZMTPException.Code.MEMORY_BUDGET);
            assertThat(buffer.refCnt()).isZero();
        }
        assertThat(budget.used()).isZero();
    }

    @Test
    void whatIsKeptOfAReadCountsInTheMemoryBudget() {
        ZMTPMemoryBudget budget = ZMTPMemoryBudget.of(10 * LENGTH);
        try (ScriptedPeer peer = traffic(codec -> codec.memoryBudget(budget))) {
            long before = budget.used();
            peer.send(header(LENGTH));
            read(nextRead(), BODY, 0, LENGTH - 1);
            assertThat(budget.used() - before).isEqualTo(LENGTH + 256);
            read(nextRead(), BODY, LENGTH - 1, LENGTH);
            assertThat(budget.used()).isEqualTo(before);
        }
    }

    /** What waits comes first, and a body may begin in it. */
    @Test
    void whileBytesWaitForTheirTurnReadsAreSmall() {
        try (ScriptedPeer peer = traffic(codec -> codec.maxFramesPerRead(1))) {
            halfOfLong(peer);
            channel.config().setAutoRead(false);
            channel.pipeline().fireChannelRead(Hex.buffer("00"));
            assertThat(lengthOfNextRead()).isEqualTo(2);
        }
    }

    @Test
    void aReadFromInsideAReadIsAsUsual() {
        List<Integer> inside = new ArrayList<>();
        try (ScriptedPeer peer = traffic()) {
            channel.pipeline().addBefore("recorder", "reader", new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object msg) {
                    inside.add(lengthOfNextRead());
                    ctx.fireChannelRead(msg);
                }
            });
            peer.send(header(LENGTH));
            read(nextRead(), BODY, 0, LENGTH);
            assertFrame(BODY);
            assertThat(inside).containsExactly(USUAL);
        }
    }

    @Test
    void aRowOfLongReadsHasNoMoreBytesThanOneOfUsualReads() {
        try (ScriptedPeer peer = traffic()) {
            halfOfLong(peer);
            for (int read = 0; read < 2; read++) {
                assertThat(handle.continueReading()).isEqualTo(read > 0);
                handle.incMessagesRead(1);
                handle.attemptedBytesRead(LONG / 2);
                handle.lastBytesRead(LONG / 2);
            }
            assertThat(handle.continueReading()).isFalse();
            handle.reset(channel.config());
            handle.incMessagesRead(1);
            handle.lastBytesRead(LONG / 2);
            assertThat(handle.continueReading()).isTrue();
        }
    }

    /** Has no memory for more than {@link #USUAL} bytes. */
    private static final class NearlyFull extends AbstractByteBufAllocator {
        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            return newDirectBuffer(initialCapacity, maxCapacity);
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
            if (initialCapacity > USUAL) {
                throw new OutOfMemoryError("nearly full");
            }
            return ByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity);
        }

        @Override
        public boolean isDirectBufferPooled() {
            return false;
        }
    }

    @Test
    void withoutMemoryForALongReadReadsAreAsUsual() {
        try (ScriptedPeer peer = traffic()) {
            peer.send(header(LENGTH));
            channel.config().setAllocator(new NearlyFull());
            assertThat(lengthOfNextRead()).isEqualTo(USUAL);
        }
    }

    @Test
    void aSealedBodyIsOpenedInTheBufferOfTheReads() {
        try (CodecPair pair = CodecPair.curve(UnaryOperator.identity())) {
            EmbeddedChannel right = pair.right.channel;
            handle = right.config().getRecvByteBufAllocator().newHandle();
            for (int length : new int[] {LENGTH, LENGTH, LONG, 3 * LONG, LENGTH}) {
                byte[] body = bytes(length);
                pair.left.channel.writeAndFlush(
                        ZMTPMessage.from(ByteBufAllocator.DEFAULT.buffer(length).writeBytes(body)));
                for (ByteBuf sealed = pair.left.channel.readOutbound();
                        sealed != null;
                        sealed = pair.left.channel.readOutbound()) {
                    while (sealed.isReadable()) {
                        ByteBuf in = handle.allocate(right.alloc());
                        handle.attemptedBytesRead(in.writableBytes());
                        in.writeBytes(sealed, Math.min(sealed.readableBytes(), in.writableBytes()));
                        handle.lastBytesRead(in.readableBytes());
                        right.pipeline().fireChannelRead(in);
                        right.pipeline().fireChannelReadComplete();
                    }
                    sealed.release();
                }
                ZMTPMessage message = (ZMTPMessage) pair.right.messages.remove(0);
                assertThat(ByteBufUtil.getBytes(message.frame(0))).isEqualTo(body);
                message.release();
            }
            assertThat(pair.right.failures).isEmpty();
        }
    }

    /** Its parts come as they are read. */
    @Test
    void aDecoderOfTheUserGetsABodyAsItIsRead() {
        RecordingParts parts = new RecordingParts();
        try (ScriptedPeer peer = traffic(codec -> codec.decoder(session -> parts))) {
            peer.send(header(LONG));
            assertThat(lengthOfNextRead()).isEqualTo(USUAL);
            read(nextRead(), BODY, 0, 1000);
            assertThat(parts.bytes).isEqualTo(1000);
            assertThat(lengthOfNextRead()).isEqualTo(USUAL);
        }
    }

    private static final class RecordingParts implements ZMTPDecoder {
        private int bytes;

        @Override
        public void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out) {}

        @Override
        public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {
            bytes += data.readableBytes();
            data.skipBytes(data.readableBytes());
        }

        @Override
        public void finish(ChannelHandlerContext ctx, List<Object> out) {}

        @Override
        public void close() {}
    }
}
