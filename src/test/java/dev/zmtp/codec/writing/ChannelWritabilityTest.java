package dev.zmtp.codec.writing;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPEncoder;
import dev.zmtp.codec.ZMTPEstimator;
import dev.zmtp.codec.ZMTPSizeEstimator;
import dev.zmtp.codec.ZMTPWriter;
import dev.zmtp.testing.Blocking;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.Gate;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultMessageSizeEstimator;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code isWritable} is right to within one batch buffer. */
class ChannelWritabilityTest {

    private static final int BATCH = 64 << 10;

    /** A mebibyte in one message, as an encoder may write it. */
    private static final class Blob implements ZMTPEncoder {
        private static final int LENGTH = 1 << 20;

        @Override
        public void estimate(Object message, ZMTPEstimator estimator) {
            estimator.frame(LENGTH);
        }

        @Override
        public void encode(Object message, ZMTPWriter writer) {
            writer.frame(LENGTH, false).writeZero(LENGTH);
        }

        @Override
        public void close() {}
    }

    private static void block(CountDownLatch over) {
        try {
            Blocking.allow(over::await);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest(name = "{0} bytes each")
    @ValueSource(ints = {0, 1, 100, 4096, 4097, 60_000, 1_000_000})
    void unflushedWritesMakeTheChannelUnwritableWithinOneBatch(int length) {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            long high = peer.channel.config().getWriteBufferHighWaterMark();
            int header = length > 255 ? 9 : 2;
            long written = 0;
            while (peer.channel.isWritable()) {
                assertThat(written).isLessThanOrEqualTo(high + BATCH);
                peer.channel.write(ZMTPMessage.from(Hex.buffer("61*" + length)));
                written += header + length;
            }
        }
    }

    @Test
    void aMessageOfManySmallFramesCountsAsItIsWritten() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            List<ByteBuf> frames = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                frames.add(Hex.buffer("61*1000"));
            }
            peer.channel.write(ZMTPMessage.from(frames));
            assertThat(peer.channel.isWritable()).isFalse();
        }
    }

    @Test
    void encodedObjectsCountWithinOneBatchToo() {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.encoder(session -> new Blob()))
                .start()) {
            peer.channel.write("a mebibyte");
            assertThat(peer.channel.isWritable()).isFalse();
            peer.channel.flush();
            assertThat(peer.channel.isWritable()).isTrue();
            peer.channel.releaseOutbound();
        }
    }

    @Test
    void theTransportKnowsOfAllWritesButOneBatch() {
        Gate gate = new Gate();
        try (ScriptedPeer peer = InTraffic.as(DEALER).before(gate).start()) {
            gate.reset();
            long written = 0;
            for (int i = 0; i < 5000; i++) {
                int length = i * 37 % 5000;
                peer.channel.write(ZMTPMessage.from(Hex.buffer("61*" + length)));
                written += length;
                long known = gate.writes.stream().mapToLong(Integer::longValue).sum();
                assertThat(written - known).isLessThanOrEqualTo(BATCH);
                if (i % 100 == 99) {
                    gate.writes.clear();
                    written = 0;
                    peer.channel.flush();
                    gate.writes.clear();
                    peer.channel.releaseOutbound();
                }
            }
        }
    }

    @Test
    void changesOfWritabilityPassThrough() {
        List<Boolean> changes = new ArrayList<>();
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
                        changes.add(ctx.channel().isWritable());
                    }
                })
                .start()) {
            peer.channel.write(ZMTPMessage.from(Hex.buffer("61*100000")));
            assertThat(changes).containsExactly(false);
            peer.channel.flush();
            assertThat(changes).containsExactly(false, true);
            peer.channel.releaseOutbound();
        }
    }

    @Test
    void writesFromAnotherThreadCountAtOnce() throws InterruptedException {
        try (EventLoops loops = new EventLoops(1)) {
            Channel channel = new Bootstrap()
                    .group(loops.group())
                    .channel(NioSocketChannel.class)
                    .handler(ZMTPCodec.of(DEALER))
                    .register()
                    .sync()
                    .channel();
            CountDownLatch over = new CountDownLatch(1);
            channel.eventLoop().execute(() -> block(over));
            ChannelFuture written = channel.write(ZMTPMessage.from(Hex.buffer("61*100000")));
            assertThat(channel.isWritable()).isFalse();
            over.countDown();
            channel.close().sync();
            assertThat(written.await().isSuccess()).isFalse();
        }
    }

    @Test
    void withTheBootstrapsEstimatorTheyCountAlsoIfTheChannelHasWrittenBeforeTheCodecCame() throws InterruptedException {
        try (EventLoops loops = new EventLoops(1)) {
            Channel channel = new Bootstrap()
                    .group(loops.group())
                    .channel(NioSocketChannel.class)
                    .option(ChannelOption.MESSAGE_SIZE_ESTIMATOR, ZMTPSizeEstimator.INSTANCE)
                    .handler(new ChannelInboundHandlerAdapter())
                    .register()
                    .sync()
                    .channel();
            CountDownLatch over = new CountDownLatch(1);
            channel.eventLoop()
                    .submit(() -> {
                        channel.write(Unpooled.EMPTY_BUFFER); // Netty asks for the estimator now
                        channel.pipeline().addLast(ZMTPCodec.of(DEALER));
                    })
                    .sync();
            channel.eventLoop().execute(() -> block(over));
            ChannelFuture written = channel.write(ZMTPMessage.from(Hex.buffer("61*100000")));
            assertThat(channel.isWritable()).isFalse();
            over.countDown();
            channel.close().sync();
            assertThat(written.await().isSuccess()).isFalse();
        }
    }

    @Test
    void theEstimatorCountsBytesAndTheOverheadOfFrames() {
        MessageSizeEstimator.Handle estimator = ZMTPSizeEstimator.INSTANCE.newHandle();
        ZMTPMessage message = ZMTPMessage.from(Hex.buffer("61*100"), Hex.buffer("62"));
        assertThat(estimator.size(message)).isEqualTo(101 + 2 * 64);
        message.release();
        ByteBuf other = Hex.buffer("61*100");
        assertThat(estimator.size(other)).isEqualTo(100);
        other.release();
    }

    /** The frames are one buffer, many times. */
    @Test
    void aMessageOfMoreThanAnIntsBytesCountsAsTheGreatestInt() {
        ByteBuf body = Hex.buffer("61*1048576");
        ByteBuf[] frames = new ByteBuf[2048];
        Arrays.setAll(frames, i -> body.retainedDuplicate());
        ZMTPMessage message = ZMTPMessage.from(frames);
        assertThat(ZMTPSizeEstimator.INSTANCE.newHandle().size(message)).isEqualTo(Integer.MAX_VALUE);
        message.release();
        body.release();
    }

    @Test
    void anEstimatorSetOnTheChannelIsKept() {
        MessageSizeEstimator own = new DefaultMessageSizeEstimator(1000);
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.config().setMessageSizeEstimator(own);
        channel.pipeline().addLast(ZMTPCodec.of(DEALER));
        assertThat(channel.config().getMessageSizeEstimator()).isSameAs(own);
        channel.finishAndReleaseAll();
    }
}
