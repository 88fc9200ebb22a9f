package dev.zmtp.codec.handshake;

import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.SIGNATURE;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Whatever callbacks do during a handshake, it ends once, and the end is reported to everyone. */
class HandshakeChaosTest {

    private static final String[] PEERS = {
        GREETING + ready("ROUTER") + "00 01 61 / 01 01 62 00 01 63",
        SIGNATURE + "01 06 00 00 / 00 01 61",
        "01 00 / 02 00 61",
        GREETING + ready("PUB")
    };

    /** Does something at random in every callback, and before the codec as well as after it. */
    private static final class Chaos extends ChannelInboundHandlerAdapter {
        private final Random random;
        private final ByteBuf input;
        private final ZMTPCodec codec;
        private final List<ChannelFuture> writes = new ArrayList<>();
        private final List<Object> ends = new ArrayList<>();
        private final List<Runnable> closes = new ArrayList<>();
        private final ChannelOutboundHandlerAdapter front = new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                act();
                if (random.nextInt(30) == 0) {
                    ReferenceCountUtil.release(msg);
                    promise.tryFailure(new IOException("broken pipe"));
                } else {
                    ctx.write(msg, promise);
                }
            }

            @Override
            public void flush(ChannelHandlerContext ctx) {
                act();
                ctx.flush();
            }

            @Override
            public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
                // Later, as from an event loop: an embedded channel would empty its pipeline within the call.
                closes.add(() -> ctx.close(promise));
            }
        };
        private ChannelHandlerContext ctx;
        private boolean closed;
        private boolean removed;
        private int late;
        private int depth;

        Chaos(Random random, ByteBuf input, ZMTPCodec codec) {
            this.random = random;
            this.input = input;
            this.codec = codec;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            this.ctx = ctx;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            late += closed && !removed ? 1 : 0;
            ReferenceCountUtil.release(msg);
            act();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
            late += closed && !removed && evt instanceof ZMTPHandshakeSuccess ? 1 : 0;
            ends.add(evt);
            act();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            act();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            act();
        }

        void act() {
            if (ctx == null || ctx.isRemoved() || depth > 3 || writes.size() > 50) {
                return;
            }
            depth++;
            switch (random.nextInt(24)) {
                case 0, 1, 2, 3 -> write(ZMTPMessage.from(ctx.alloc().buffer().writeZero(random.nextInt(6000))));
                case 4 -> write("no message");
                case 5, 6 -> ctx.flush();
                case 7, 8, 9, 10 -> feed();
                case 11 -> {
                    closed = true;
                    ctx.close();
                }
                case 12 -> {
                    if (random.nextInt(4) == 0 && ctx.pipeline().get(ZMTPCodec.class) != null) {
                        removed = true;
                        ctx.pipeline().remove(codec);
                    }
                }
                case 13 -> {
                    if (random.nextInt(4) == 0) {
                        ctx.pipeline().fireExceptionCaught(new IOException("reset"));
                    }
                }
                case 14 -> ctx.read();
                case 15 -> ctx.pipeline().fireChannelReadComplete();
                default -> {}
            }
            depth--;
        }

        private void write(Object message) {
            if (removed) {
                ReferenceCountUtil.release(message);
                return;
            }
            ChannelFuture written = ctx.write(message);
            writes.add(written);
            written.addListener(done -> act());
        }

        void letClose() {
            while (!closes.isEmpty()) {
                closes.remove(0).run();
            }
        }

        void feed() {
            if (input.isReadable()) {
                int bytes = Math.min(input.readableBytes(), 1 + random.nextInt(60));
                ctx.pipeline().fireChannelRead(input.readRetainedSlice(bytes));
            }
        }
    }

    @Test
    void aHandshakeEndsOnceAndIsReportedWhateverCallbacksDo() {
        for (long seed = 0; seed < 500; seed++) {
            chaos(seed);
        }
    }

    private static void chaos(long seed) {
        Random random = new Random(seed);
        ByteBuf input = Hex.buffer(PEERS[random.nextInt(PEERS.length)]);
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(ZMTPSocketType.DEALER)
                .localIdentity(random.nextBoolean() ? "" : "me")
                .build();
        Chaos chaos = new Chaos(random, input, codec);
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.config().setAutoRead(random.nextBoolean());
        int mark = 1 + random.nextInt(5000);
        channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(mark, 2 * mark));
        channel.pipeline().addLast(chaos.front, codec, chaos);
        for (int i = 0; i < 100; i++) {
            chaos.act();
            chaos.feed();
            if (random.nextInt(8) == 0) {
                chaos.letClose();
            }
            channel.runPendingTasks();
        }
        chaos.letClose();
        channel.finishAndReleaseAll();
        chaos.letClose();
        channel.runPendingTasks();
        channel.releaseOutbound();
        input.release();

        assertThat(chaos.ends).as("seed %d", seed).hasSize(1);
        assertThat(codec.session().handshakeFuture().isDone())
                .as("seed %d", seed)
                .isTrue();
        assertThat(chaos.ends.get(0) instanceof ZMTPHandshakeSuccess)
                .as("seed %d", seed)
                .isEqualTo(codec.session().handshakeFuture().isSuccess());
        assertThat(chaos.writes).as("seed %d", seed).allMatch(ChannelFuture::isDone);
        assertThat(chaos.late).as("seed %d: fired behind a close", seed).isZero();
    }
}
